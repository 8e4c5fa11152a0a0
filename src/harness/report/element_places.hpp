// Single elements of a failing case: where they lie, what was got and what is right.
#pragma once

#include <string>

#include "harness/report/record.hpp"

namespace straddle::harness {

// "token 7 = rank 1 row 3 = document 1 row 5; 1 row before cut 1|2 (token 8)". The nearest cut, the later of
// two as near; none with one rank. document < 0: a row of padding.
[[nodiscard]] std::string place_text(const Place& place, std::int64_t document, const Case& point);

// "d_k[7, kv 0, 51] got -0.0420 want -1.8292"; lse has no dim.
[[nodiscard]] std::string values_text(const std::string& tensor, std::int64_t layer, const Place& place);

// The lines "first" and "worst" of a mismatch block: the first wrong element of all tensors, the worst one,
// and the worst values of each wrong tensor.
[[nodiscard]] std::string first_and_worst(const CaseRecord& record, std::size_t width);

}  // namespace straddle::harness
