// Rows that belong to no document.
#pragma once

#include <string_view>

#include "harness/judge/judge.hpp"

namespace straddle::harness {

// All rows of `result` [padded slots, ..] outside the documents must hold exactly 0 (lse: -inf).
[[nodiscard]] PaddingVerdict judge_padding(const Case& point, std::int64_t layer, std::string_view name,
                                           const tensor::Tensor& result);

}  // namespace straddle::harness
