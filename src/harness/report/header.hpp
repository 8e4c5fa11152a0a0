// What stands above the cases: the run, each file's title, the table's columns.
#pragma once

#include <string>

#include "harness/report/record.hpp"

namespace straddle::harness {

// Which build runs what, on which ranks, with what, and what is not here. Without times no run id either: two
// runs print the same.
[[nodiscard]] std::string run_header(const RunInfo& info, bool times, std::size_t width);

// "scenarios/three_ranks.toml   A document over three and more ranks"; nothing for cases without a file.
[[nodiscard]] std::string file_heading(const RunInfo& info, const std::string& file, std::size_t width);

// "not here: cuda (not built), .."; nothing where all is here.
[[nodiscard]] std::string not_here_line(const RunInfo& info, std::size_t width);

}  // namespace straddle::harness
