// runs/ID/exit: the run's exit code, for scripts whose launcher gives another.
#pragma once

#include <filesystem>
#include <memory>

#include "harness/report/reporter.hpp"

namespace straddle::harness {

// Writes the code when the run ends, and nothing before: a missing file means that the run was cut off.
[[nodiscard]] std::unique_ptr<Reporter> exit_file_reporter(std::filesystem::path path);

}  // namespace straddle::harness
