// Tensors x documents of a case as tables.
#pragma once

#include <string>

#include "harness/judge/judge.hpp"

namespace straddle::harness {

// Columns of a block's labels, behind an indent of two.
inline constexpr std::size_t kBlockLabelColumns = 10;

// The wrong ones, 8 at most and then how many more: used, allowed, by which criterion, which rows and heads.
// Nothing where none is wrong.
[[nodiscard]] std::string wrong_table(const Judgement& judgement, std::size_t width);

// Every one, with what the float reference uses beside it.
[[nodiscard]] std::string whole_table(const Judgement& judgement);

// "13 of 15 tensors x documents pass, worst 0.14 (d_q d0: 3.2e-07 of 2.3e-06)"
[[nodiscard]] std::string passing_summary(const Judgement& judgement);

// "2 of 15 tensors x documents are wrong, worst 1.9e5 (d_k d1: 4.7e-01 of 2.5e-06)"
[[nodiscard]] std::string wrong_summary(const Judgement& judgement);

}  // namespace straddle::harness
