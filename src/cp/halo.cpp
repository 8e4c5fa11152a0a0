// The exchange with the neighbour: the last max_straddle rows of rank r go to rank r + 1, their gradients
// come back.
#include <cstddef>
#include <optional>
#include <vector>

#include "cp/methods.hpp"
#include "cp/rows.hpp"

namespace straddle::cp {
namespace {

// No wrap-around: the first rank has nobody to its left, the last one nobody to its right.
std::optional<int> left_of(const pack::Plan& plan) {
  if (plan.rank == 0) return std::nullopt;
  return static_cast<int>(plan.rank - 1);
}
std::optional<int> right_of(const pack::Plan& plan) {
  if (plan.rank + 1 == plan.ranks) return std::nullopt;
  return static_cast<int>(plan.rank + 1);
}

// The halo: max_straddle packed rows, or none where there is no neighbour.
Bytes halo_buffer(const pack::Plan& plan, std::optional<int> neighbour, std::size_t bytes_per_row) {
  return Bytes(neighbour ? to_size(plan.max_straddle) * bytes_per_row : 0, std::byte{0});
}

class HaloExchange final : public Exchange {
 public:
  void gather(const pack::Plan& plan, const tensor::ConstView& k, const tensor::ConstView& v,
              const tensor::View& needed_k, const tensor::View& needed_v,
              comm::Transport& transport) override {
    const ConstRows shard{k, v};
    const Rows needed{needed_k, needed_v};
    const std::size_t bytes = row_bytes(shard);
    Bytes send = halo_buffer(plan, right_of(plan), bytes);
    Bytes received = halo_buffer(plan, left_of(plan), bytes);
    if (right_of(plan)) pack_rows(shard, plan.rows_per_rank - plan.max_straddle, plan.max_straddle, send);
    transport.send_receive(kForwardPurpose, right_of(plan), send, left_of(plan), received);

    // Everybody receives as many rows as the rank that needs most; all but the last b_r are dropped.
    const std::size_t kept_bytes = to_size(plan.straddle) * bytes;
    unpack_rows(std::span<const std::byte>(received).last(kept_bytes), needed, 0, plan.straddle);
    copy_rows(shard, 0, needed, plan.straddle, plan.rows_per_rank);
  }
};

class HaloAdjoint final : public Adjoint {
 public:
  void scatter(const pack::Plan& plan, const tensor::ConstView& partial_d_k,
               const tensor::ConstView& partial_d_v, const tensor::View& d_k, const tensor::View& d_v,
               comm::Transport& transport) override {
    const ConstRows partial{partial_d_k, partial_d_v};
    const Rows sum{d_k, d_v};
    const std::size_t bytes = row_bytes(partial);
    Bytes send = halo_buffer(plan, left_of(plan), bytes);  // 0 on rows this rank did not need
    Bytes received = halo_buffer(plan, right_of(plan), bytes);
    const std::size_t used_bytes = to_size(plan.straddle) * bytes;
    pack_rows(partial, 0, plan.straddle, std::span(send).last(used_bytes));
    transport.send_receive(kBackwardPurpose, left_of(plan), send, right_of(plan), received);

    // Source-rank order: this rank's own partial, then its right neighbour's.
    zero_rows(sum);
    add_rows(partial, plan.straddle, sum, 0, plan.rows_per_rank);
    if (right_of(plan)) {
      add_packed_rows(received, sum, plan.rows_per_rank - plan.max_straddle, plan.max_straddle);
    }
  }
};

}  // namespace

std::unique_ptr<Exchange> halo_exchange() { return std::make_unique<HaloExchange>(); }
std::unique_ptr<Adjoint> halo_adjoint() { return std::make_unique<HaloAdjoint>(); }

}  // namespace straddle::cp
