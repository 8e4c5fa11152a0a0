// The rules that every rank checks on its plan before any collective (docs/design.md, Geometry).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "pack/plan.hpp"

namespace straddle::pack {

struct PlanViolation {
  std::string rule;   // e.g. "cu_seqlens_q starts at 0"
  std::string entry;  // e.g. "cu_seqlens_q[0]"
  std::string seen;
  std::string expected;
  [[nodiscard]] std::string text() const;
};

// The first broken rule, or nothing; no plan, however broken, makes it read out of bounds or overflow.
//   0 <= n_r <= L; 0 <= key_begin <= key_end <= S; key_begin = rL - b_r; key_end inside the shard
//   cu_q and cu_k start at 0, are strictly increasing, equally long, end at n_r and at b_r + n_r
//   k_0 = q_0 + b_r (so k_0 >= q_0), k_t = q_t after it; maxima exact
//   segments agree with both, lie in the shard in order and end at key_end
//   receives lie in the needed range and in an earlier peer's shard, ascending, and sum to b_r
//   sends lie in this shard and go to later peers, ascending
// What one rank can't know (whether peers expect what it sends) is find_mismatch's.
[[nodiscard]] std::optional<PlanViolation> find_violation(const Plan& plan);

// Rows sent by s to r must be the rows r expects from s. Given what each rank sends to and receives from each
// peer (sends[s * W + r], receives[r * W + s], rows), the first pair that disagrees, or nothing.
[[nodiscard]] std::optional<PlanViolation> find_mismatch(std::span<const std::int64_t> sends,
                                                         std::span<const std::int64_t> receives,
                                                         std::int64_t ranks);

}  // namespace straddle::pack
