// From measured errors to what people read: which rows, heads and ranks are wrong, and where to look first.
#pragma once

#include <cstdint>

#include "harness/judge/document_errors.hpp"
#include "harness/judge/judge.hpp"

namespace straddle::harness {

// Everything of a verdict but the names of tensor, layer and document and the float reference. A row is wrong
// if one of its elements or the row itself is over its bound, in any head. Where the document alone is over
// its bound no row can be told from the others: all rows, heads and ranks of it are wrong and there is no
// first element. worst is there on passing documents too.
[[nodiscard]] TensorVerdict make_verdict(const DocumentErrors& errors, const Comparison& comparison,
                                         std::int64_t ranks, std::int64_t rows_per_rank);

}  // namespace straddle::harness
