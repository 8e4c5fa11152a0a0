// A run as people see it.
#pragma once

#include <memory>
#include <ostream>

#include "harness/report/reporter.hpp"

namespace straddle::harness {

struct ConsoleOptions {
  // -2: nothing; -1: cases that failed and the summary; 0; 1: also the command of each case before it runs (a
  // crash leaves it last), facts and all tensors; 2: also where each rank ended.
  int verbosity = 0;
  bool color = false;    // of the verdict words
  bool times = true;     // false: two runs of a build print the same bytes (no times, no run id)
  int blocks = 3;        // failing blocks of each cause
  bool counted = false;  // "[187/412] " before each line, aside from the width: nobody sees the progress
  int width = 100;       // columns; a case text is never cut for it
};

// Header, one line a case with its block at once, summary; flushed after each. Throws OutputError when `out`
// can't be written.
[[nodiscard]] std::unique_ptr<Reporter> console_reporter(std::ostream& out, const ConsoleOptions& options);

}  // namespace straddle::harness
