// One line a case: verdict, case, and what was measured or why nothing was.
#pragma once

#include <string>

#include "harness/report/record.hpp"

namespace straddle::harness {

struct LineOptions {
  bool color = false;
  bool times = true;
  std::size_t width = 100;
};

// "verdict  case    path taken   K/V moved  used worst  bits  ms"
[[nodiscard]] std::string table_heading(const LineOptions& options);

// Under that heading. K/V moved: between ranks, forward. used worst: the largest used / allowed with its
// tensor and document. bits: = out, lse and d_q equal those of W = 1, ! they don't, - not compared. The case
// is never cut: where it leaves no room the rest of the line follows in a line of its own.
[[nodiscard]] std::string case_line(const CaseRecord& record, const LineOptions& options);

}  // namespace straddle::harness
