// A failing case in one sentence or two.
#pragma once

#include <string>

#include "harness/report/record.hpp"

namespace straddle::harness {

// "d_k, d_v of document 1 are wrong on ranks 0 1. Backward only: out, lse, d_q pass." For a case without
// wrong tensors what else is wrong, and for a verdict other than mismatch its reasons. Empty for a pass.
[[nodiscard]] std::string in_short(const CaseRecord& record);

// What makes two mismatches the same one, as far as it shows without an explanation: the tensors, the kind of
// their documents and of their errors, the path taken. "d_k, d_v wrong in documents on several ranks (a2a)".
[[nodiscard]] std::string signature(const CaseRecord& record);

}  // namespace straddle::harness
