// Which documents of a wrong tensor are wrong on which ranks, as a picture.
#pragma once

#include <string>

#include "harness/report/record.hpp"

namespace straddle::harness {

// For each wrong tensor the relative error of its documents x ranks, X where it is wrong, a point where the
// document has no rows; tensors with the same X are named under the first of them, and after two pictures the
// others are counted. 8 documents and as many ranks as the width holds, the wrong ones before others.
[[nodiscard]] std::string rank_pictures(const CaseRecord& record, std::size_t width);

}  // namespace straddle::harness
