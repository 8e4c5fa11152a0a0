// What `straddle run` was asked for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "harness/cli/launch.hpp"
#include "harness/cli/selection.hpp"

namespace straddle::harness {

enum class ExitStyle : std::uint8_t {
  plain,
  bisect  // for `git bisect run`: 125 for what can't be judged, 1 for what is bad
};

enum class ColorChoice : std::uint8_t { automatic, always, never };

struct RunArguments {
  Launch launch;
  SelectionArguments selection;
  double timeout_s = 10;
  int threads = 1;
  std::int64_t repeat = 1;
  std::optional<int> debug_rank;
  ExitStyle exit = ExitStyle::plain;
  std::optional<std::filesystem::path> save;
  std::string run_id;  // empty: made from the time and the process
  std::string json;    // further JSON Lines file, "-": standard output in place of the console
  std::string junit;
  bool strict = false;
  bool times = true;
  int verbosity = 0;  // -2 to 2
  int blocks = 3;
  ColorChoice color = ColorChoice::automatic;
};

// Runs and returns the exit code. Throws what select_cases and launch throw.
int run(const RunArguments& arguments);

// The code that --exit bisect gives for a code of run.
[[nodiscard]] int bisect_code(int exit_code);

}  // namespace straddle::harness
