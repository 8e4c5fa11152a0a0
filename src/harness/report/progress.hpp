// One line on a terminal that says how far a run is.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>

#include "harness/report/reporter.hpp"

namespace straddle::harness {

// "187/412  9.8 s  3 mismatch  W4/..": drawn before a case, erased after it and at the end. `err` is a
// terminal: whoever calls this has looked. Comes before the console's reporter, so that the line is gone when
// that prints. The case is there where the whole line fits into 80 columns, and else left out: a line that
// the terminal wraps can't be erased.
[[nodiscard]] std::unique_ptr<Reporter> progress_reporter(std::ostream& err, std::int64_t cases);

}  // namespace straddle::harness
