// The exchange that moves everything: all-gather of K/V forward, partials of every shard to their owners
// backward.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "cp/methods.hpp"
#include "cp/rows.hpp"

namespace straddle::cp {
namespace {

// First global row of the buffers that hold the needed range.
std::int64_t first_needed_row(const pack::Plan& plan) { return plan.global_row() - plan.straddle; }

class AllgatherExchange final : public Exchange {
 public:
  void gather(const pack::Plan& plan, const tensor::ConstView& k, const tensor::ConstView& v,
              const tensor::View& needed_k, const tensor::View& needed_v,
              comm::Transport& transport) override {
    const ConstRows shard{k, v};
    const std::int64_t rows = plan.rows_per_rank;
    Bytes mine(to_size(rows) * row_bytes(shard));
    Bytes all(to_size(plan.ranks) * mine.size());  // [S] packed rows
    pack_rows(shard, 0, rows, mine);
    transport.all_gather(kForwardPurpose, mine, all);

    const std::size_t skipped_bytes = to_size(first_needed_row(plan)) * row_bytes(shard);
    const std::int64_t needed_rows = plan.straddle + rows;
    unpack_rows(
        std::span<const std::byte>(all).subspan(skipped_bytes, to_size(needed_rows) * row_bytes(shard)),
        {needed_k, needed_v}, 0, needed_rows);
  }
};

// This rank's partials as [W, L] packed rows, one block for each owner; rows it did not need are 0.
Bytes partials_by_owner(const pack::Plan& plan, const ConstRows& partial) {
  const std::size_t bytes = row_bytes(partial);
  Bytes by_owner(to_size(plan.ranks * plan.rows_per_rank) * bytes, std::byte{0});
  const std::int64_t needed_rows = plan.straddle + plan.rows_per_rank;
  pack_rows(
      partial, 0, needed_rows,
      std::span(by_owner).subspan(to_size(first_needed_row(plan)) * bytes, to_size(needed_rows) * bytes));
  return by_owner;
}

class AllgatherOrderedAdjoint final : public Adjoint {
 public:
  void scatter(const pack::Plan& plan, const tensor::ConstView& partial_d_k,
               const tensor::ConstView& partial_d_v, const tensor::View& d_k, const tensor::View& d_v,
               comm::Transport& transport) override {
    const ConstRows partial{partial_d_k, partial_d_v};
    const Rows sum{d_k, d_v};
    const std::size_t block_bytes = to_size(plan.rows_per_rank) * row_bytes(partial);
    const Bytes send = partials_by_owner(plan, partial);
    Bytes received(send.size());
    const std::vector<std::int64_t> counts(to_size(plan.ranks), static_cast<std::int64_t>(block_bytes));
    transport.all_to_all_v(kBackwardPurpose, send, counts, received, counts);

    zero_rows(sum);
    for (std::size_t source = 0; source < to_size(plan.ranks); ++source) {
      const auto block = std::span<const std::byte>(received).subspan(source * block_bytes, block_bytes);
      add_packed_rows(block, sum, 0, plan.rows_per_rank);
    }
  }
};

class AllgatherLibraryAdjoint final : public Adjoint {
 public:
  void scatter(const pack::Plan& plan, const tensor::ConstView& partial_d_k,
               const tensor::ConstView& partial_d_v, const tensor::View& d_k, const tensor::View& d_v,
               comm::Transport& transport) override {
    const ConstRows partial{partial_d_k, partial_d_v};
    const Bytes send = partials_by_owner(plan, partial);
    Bytes sum(to_size(plan.rows_per_rank) * row_bytes(partial));
    transport.reduce_scatter_sum(kBackwardPurpose, partial_d_k.dtype(), send, sum);

    // Added to +0 like the ordered sum, so that a lone -0 has the same bits in both and for every W.
    zero_rows({d_k, d_v});
    add_packed_rows(sum, {d_k, d_v}, 0, plan.rows_per_rank);
  }
};

}  // namespace

std::unique_ptr<Exchange> allgather_exchange() { return std::make_unique<AllgatherExchange>(); }
std::unique_ptr<Adjoint> allgather_ordered_adjoint() { return std::make_unique<AllgatherOrderedAdjoint>(); }
std::unique_ptr<Adjoint> allgather_library_adjoint() { return std::make_unique<AllgatherLibraryAdjoint>(); }

}  // namespace straddle::cp
