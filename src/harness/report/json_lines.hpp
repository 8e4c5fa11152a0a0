// A run as JSON Lines (docs/formats.md): a run record, one record a case, a summary. What programs read, and
// what `straddle run --failed` starts from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "harness/inputs/inputs.hpp"
#include "harness/report/output_file.hpp"
#include "harness/report/reporter.hpp"

namespace straddle::harness {

// Each record is one line, complete in the file when the call returns. Throws OutputError.
[[nodiscard]] std::unique_ptr<Reporter> json_lines_reporter(std::unique_ptr<OutputFile> file);
[[nodiscard]] std::unique_ptr<Reporter> json_lines_reporter(std::ostream& out);

struct ResultCase {
  std::string text;
  std::string verdict;
  std::string file;  // scenario, "" without one
  std::int64_t line = 0;
};

struct Results {
  std::string run_id;
  std::vector<ResultCase> cases;  // as they ended
  bool complete = false;          // false: the summary is missing, the run was cut off
  bool last_line_cut = false;     // the last line is no whole record; it is left out
};

// A results file that is missing, can't be read, or is none: file, line, what was expected, what to do.
class ResultsError : public InputError {
 public:
  using InputError::InputError;
};

// Throws ResultsError. A last line that is cut off is no error.
[[nodiscard]] Results read_results(const std::filesystem::path& path);

}  // namespace straddle::harness
