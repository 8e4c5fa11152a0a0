// Which cases a command is about: scenarios, case texts, random ones, those that failed in an earlier run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/scenario/scenario.hpp"

namespace straddle::harness {

struct SelectionArguments {
  std::vector<std::filesystem::path> paths;  // scenario files and folders
  std::vector<std::string> cases;            // --case
  std::string match;        // --match: a text that the case's name holds, or a pattern with * and ?
  std::string kernel;       // --kernel: only cases with it (random ones are drawn with it)
  std::string failed;       // --failed: a run's folder or its id
  std::int64_t random = 0;  // --random
  std::uint64_t seed = 1;   // --seed of --random
  std::filesystem::path runs = "runs";  // where run ids are looked up
};

struct Selection {
  std::vector<CaseEntry> cases;
  std::int64_t files = 0;
  std::map<std::string, std::string> titles;  // by file
  std::string histogram;                      // of random cases
};

// Throws ScenarioError, NoScenario, UsageError, InputError (a file's tensors are read and checked here,
// before anything runs).
[[nodiscard]] Selection select_cases(const SelectionArguments& arguments, std::int64_t ranks);

// * any run of characters, ? one; a pattern without either matches wherever it stands in the text.
[[nodiscard]] bool matches(std::string_view text, std::string_view pattern);

}  // namespace straddle::harness
