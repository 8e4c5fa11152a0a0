// The drawing in a plan's picture: a line of tokens, of cuts, of documents, and one for each rank.
#pragma once

#include <string>

#include "harness/report/plan_facts.hpp"

namespace straddle::harness {

// `label_columns`: where the drawing starts, after each line's label.
[[nodiscard]] std::string draw_plan(const PlanFacts& facts, std::size_t label_columns);

// The ranks draw_plan shows, one line a group; all others are counted in lines between them.
[[nodiscard]] std::vector<RankGroup> drawn_groups(const pack::PackGeometry& geometry);

}  // namespace straddle::harness
