// What -v adds to a case.
#pragma once

#include <string>

#include "harness/report/record.hpp"

namespace straddle::harness {

// The geometry, the bytes, the checksums and all tensors x documents of a case that ran.
[[nodiscard]] std::string case_details(const CaseRecord& record, std::size_t width);

// Where each rank ended (-vv), ranks that ended alike together.
[[nodiscard]] std::string operations(const CaseRecord& record, std::size_t width);

}  // namespace straddle::harness
