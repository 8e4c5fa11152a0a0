// Bytes, memory and work of a pack in closed form: what the recorder's counts are compared with. All products
// are checked: PackError where 64 bits don't hold one.
#pragma once

#include <cstdint>
#include <vector>

#include "pack/plan.hpp"

namespace straddle::pack {

// Rows of K/V that cross ranks forward; backward moves as many rows of dK/dV the other way.
//   allgather (W-1) S;  halo (W-1) max b_r, legal where that is <= L;  a2a sum b_r, the lower bound
[[nodiscard]] std::int64_t moved_rows(ExchangeKind kind, const Pack& pack, std::int64_t ranks);
[[nodiscard]] std::int64_t moved_rows(ExchangeKind kind, const PackGeometry& geometry);

// C = Hkv (D + Dv): elements of K and V of one token.
[[nodiscard]] std::int64_t kv_elements_per_token(std::int64_t kv_heads, std::int64_t head_dim,
                                                 std::int64_t v_head_dim);

// Bytes of rows tokens' K and V.
[[nodiscard]] std::int64_t kv_bytes(std::int64_t rows, std::int64_t elements_per_token,
                                    std::int64_t element_bytes);

// Rows of K/V a rank holds at once for one layer: allgather S, halo L + max b, a2a L + b_r.
[[nodiscard]] std::int64_t held_rows(ExchangeKind kind, const Plan& plan);

// Visible pairs of each rank, [ranks]; they sum to sum_d n (n + 1) / 2. O(documents + ranks).
[[nodiscard]] std::vector<std::int64_t> pairs_per_rank(const Pack& pack, std::int64_t ranks);

}  // namespace straddle::pack
