// The tables in a plan's picture: rows between ranks and their bytes, and what each rank's kernel gets.
#pragma once

#include <string>

#include "harness/report/plan_facts.hpp"

namespace straddle::harness {

// Who sends how many rows to whom on the path taken, and what that is in bytes beside the other exchanges.
[[nodiscard]] std::string exchange_table(const PlanFacts& facts, std::size_t label_columns);

// cu_seqlens, maxima, memory and work of each rank; ranks with equal kernel calls fold.
[[nodiscard]] std::string kernel_table(const PlanFacts& facts, std::size_t label_columns);

// Ranks that kernel_table shows, one line a group.
[[nodiscard]] std::vector<RankGroup> kernel_groups(const PlanFacts& facts);

}  // namespace straddle::harness
