// How K/V reach the rank that needs them, and how dK/dV return: two seams, one the adjoint of the other.
#pragma once

#include <memory>

#include "comm/transport.hpp"
#include "pack/plan.hpp"
#include "tensor/view.hpp"

namespace straddle::cp {

// K and V of a token travel together. Tensors are host memory, token-major, contiguous.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // k [rows_per_rank, kv_heads, head_dim], v [rows_per_rank, kv_heads, v_head_dim]: this rank's shard.
  // needed_k, needed_v [b_r + rows_per_rank, ..]: global rows [rL - b_r, (r+1)L), NaN on entry. Writes all of
  // them: b_r rows from other ranks, then the shard itself.
  virtual void gather(const pack::Plan& plan, const tensor::ConstView& k, const tensor::ConstView& v,
                      const tensor::View& needed_k, const tensor::View& needed_v,
                      comm::Transport& transport) = 0;
};

class Adjoint {
 public:
  virtual ~Adjoint() = default;

  // partial_d_k, partial_d_v [b_r + rows_per_rank, ..], accumulation dtype: this rank's partial sums over its
  // needed rows, 0 on padding. d_k, d_v [rows_per_rank, ..], accumulation dtype: the sum over ranks of their
  // partials for this rank's rows.
  virtual void scatter(const pack::Plan& plan, const tensor::ConstView& partial_d_k,
                       const tensor::ConstView& partial_d_v, const tensor::View& d_k, const tensor::View& d_v,
                       comm::Transport& transport) = 0;
};

// ordered: an all-to-all of partials, added in source-rank order, so bits don't depend on a library's
// reduction. library: the transport's own reduce-scatter; allgather only.
enum class Reduce : std::uint8_t { ordered, library };
[[nodiscard]] std::string_view name(Reduce reduce);
[[nodiscard]] Reduce parse_reduce(std::string_view name);  // throws std::invalid_argument listing the names

[[nodiscard]] std::unique_ptr<Exchange> make_exchange(pack::ExchangeKind kind);
// Throws std::invalid_argument for library with halo or a2a.
[[nodiscard]] std::unique_ptr<Adjoint> make_adjoint(pack::ExchangeKind kind, Reduce reduce);

}  // namespace straddle::cp
