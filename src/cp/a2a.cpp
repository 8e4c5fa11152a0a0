// The needed-only exchange: every rank gets own_s n needed_r from each rank s and nothing else.
#include <cstddef>
#include <numeric>
#include <vector>

#include "cp/methods.hpp"
#include "cp/rows.hpp"

namespace straddle::cp {
namespace {

// Bytes for each peer, [W]; 0 for those without a transfer.
std::vector<std::int64_t> bytes_by_peer(const std::vector<pack::Transfer>& transfers, std::int64_t ranks,
                                        std::size_t bytes_per_row) {
  std::vector<std::int64_t> bytes(to_size(ranks), 0);
  for (const pack::Transfer& transfer : transfers) {
    bytes[to_size(transfer.peer)] += transfer.rows * static_cast<std::int64_t>(bytes_per_row);
  }
  return bytes;
}

Bytes buffer_for(const std::vector<std::int64_t>& bytes_by_peer) {
  return Bytes(to_size(std::accumulate(bytes_by_peer.begin(), bytes_by_peer.end(), std::int64_t{0})));
}

// Transfers one after the other: they ascend by peer, as the parts of an all-to-all do. first_row: the global
// row of rows' row 0.
void pack_transfers(const std::vector<pack::Transfer>& transfers, const ConstRows& rows,
                    std::int64_t first_row, std::span<std::byte> packed) {
  for (const pack::Transfer& transfer : transfers) {
    const std::size_t bytes = to_size(transfer.rows) * row_bytes(rows);
    pack_rows(rows, transfer.global_begin - first_row, transfer.rows, packed.first(bytes));
    packed = packed.subspan(bytes);
  }
}

// Calls apply(packed rows, first local row, rows) for each transfer.
template <class Apply>
void for_each_transfer(const std::vector<pack::Transfer>& transfers, std::span<const std::byte> packed,
                       std::size_t bytes_per_row, std::int64_t first_row, const Apply& apply) {
  for (const pack::Transfer& transfer : transfers) {
    const std::size_t bytes = to_size(transfer.rows) * bytes_per_row;
    apply(packed.first(bytes), transfer.global_begin - first_row, transfer.rows);
    packed = packed.subspan(bytes);
  }
}

class A2aExchange final : public Exchange {
 public:
  void gather(const pack::Plan& plan, const tensor::ConstView& k, const tensor::ConstView& v,
              const tensor::View& needed_k, const tensor::View& needed_v,
              comm::Transport& transport) override {
    const ConstRows shard{k, v};
    const Rows needed{needed_k, needed_v};
    const std::size_t bytes = row_bytes(shard);
    const auto send_bytes = bytes_by_peer(plan.sends, plan.ranks, bytes);
    const auto received_bytes = bytes_by_peer(plan.receives, plan.ranks, bytes);
    Bytes send = buffer_for(send_bytes);
    Bytes received = buffer_for(received_bytes);
    pack_transfers(plan.sends, shard, plan.global_row(), send);
    transport.all_to_all_v(kForwardPurpose, send, send_bytes, received, received_bytes);

    for_each_transfer(plan.receives, received, bytes, plan.global_row() - plan.straddle,
                      [&](std::span<const std::byte> packed, std::int64_t begin, std::int64_t rows) {
                        unpack_rows(packed, needed, begin, rows);
                      });
    copy_rows(shard, 0, needed, plan.straddle, plan.rows_per_rank);
  }
};

class A2aAdjoint final : public Adjoint {
 public:
  void scatter(const pack::Plan& plan, const tensor::ConstView& partial_d_k,
               const tensor::ConstView& partial_d_v, const tensor::View& d_k, const tensor::View& d_v,
               comm::Transport& transport) override {
    const ConstRows partial{partial_d_k, partial_d_v};
    const Rows sum{d_k, d_v};
    const std::size_t bytes = row_bytes(partial);
    // The transpose: what came from a rank goes back to it.
    const auto send_bytes = bytes_by_peer(plan.receives, plan.ranks, bytes);
    const auto received_bytes = bytes_by_peer(plan.sends, plan.ranks, bytes);
    Bytes send = buffer_for(send_bytes);
    Bytes received = buffer_for(received_bytes);
    pack_transfers(plan.receives, partial, plan.global_row() - plan.straddle, send);
    transport.all_to_all_v(kBackwardPurpose, send, send_bytes, received, received_bytes);

    // Source-rank order: rows go to later ranks only, so this rank's own partial comes first.
    zero_rows(sum);
    add_rows(partial, plan.straddle, sum, 0, plan.rows_per_rank);
    for_each_transfer(plan.sends, received, bytes, plan.global_row(),
                      [&](std::span<const std::byte> packed, std::int64_t begin, std::int64_t rows) {
                        add_packed_rows(packed, sum, begin, rows);
                      });
  }
};

}  // namespace

std::unique_ptr<Exchange> a2a_exchange() { return std::make_unique<A2aExchange>(); }
std::unique_ptr<Adjoint> a2a_adjoint() { return std::make_unique<A2aAdjoint>(); }

}  // namespace straddle::cp
