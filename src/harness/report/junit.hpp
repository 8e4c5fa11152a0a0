// A run as JUnit XML, for viewers of continuous integration.
#pragma once

#include <filesystem>
#include <memory>

#include "harness/report/reporter.hpp"

namespace straddle::harness {

// The file is whole and valid XML after every case: each one is written over the closing tags with the
// closing tags behind it, and the counts at the front are kept up to date in a field of fixed width. Verdict,
// sentence and repro are a failure's first three lines; 4 KB a case. Throws OutputError.
[[nodiscard]] std::unique_ptr<Reporter> junit_reporter(const std::filesystem::path& path);

}  // namespace straddle::harness
