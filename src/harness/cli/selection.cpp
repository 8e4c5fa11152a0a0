#include "harness/cli/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/cli/launch.hpp"
#include "harness/inputs/inputs.hpp"
#include "harness/report/json_lines.hpp"
#include "harness/run/kernels.hpp"
#include "harness/scenario/random_cases.hpp"

namespace straddle::harness {
namespace {

// Greedy with one point to come back to, the last *: linear in practice, never exponential.
bool glob(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && (pattern[at] == '?' || (pattern[at] == text[i] && pattern[at] != '*'))) {
      ++at;
      ++i;
    } else if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

void add_scenarios(const std::vector<std::filesystem::path>& paths, Selection& selection) {
  for (Scenario& scenario : load_scenarios(paths, {.kernels = kernel_names()})) {
    ++selection.files;
    selection.titles.emplace(scenario.file, scenario.title);
    std::move(scenario.cases.begin(), scenario.cases.end(), std::back_inserter(selection.cases));
  }
}

// A case by its text: found in the scenarios that were named, which carry what it must show, else made from
// the text alone.
CaseEntry case_by_text(const std::string& text, const std::vector<CaseEntry>& known) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const CaseEntry& c) { return c.text == text; });
  if (found != known.end()) return *found;
  if (names_a_file(text)) {
    throw UsageError(
        fmt::format("case {} holds the hash of a long pack or of a file: name its scenario file too{}", text,
                    known.empty() ? "" : "; the ones named have no such case"));
  }
  CaseEntry entry;
  entry.point = parse_case(text);
  entry.text = print(entry.point);
  const auto kernels = kernel_names();
  if (std::find(kernels.begin(), kernels.end(), entry.point.kernel) == kernels.end()) {
    throw UsageError(fmt::format("case {}: no kernel \"{}\" in this build", text, entry.point.kernel));
  }
  return entry;
}

struct FailedCases {
  std::vector<std::string> texts;
  std::vector<std::filesystem::path> files;
};

FailedCases failed_cases(const SelectionArguments& arguments) {
  std::filesystem::path folder = arguments.failed;
  if (!std::filesystem::exists(folder)) folder = arguments.runs / arguments.failed;
  const auto results = read_results(folder / "results.jsonl");
  FailedCases failed;
  std::set<std::string> files;
  for (const auto& result : results.cases) {
    if (result.verdict == "pass" || result.verdict == "skipped" || result.verdict == "not applicable")
      continue;
    failed.texts.push_back(result.text);
    if (!result.file.empty()) files.insert(result.file);
  }
  if (failed.texts.empty()) {
    throw UsageError(fmt::format("no case failed in {}", (folder / "results.jsonl").string()));
  }
  failed.files.assign(files.begin(), files.end());
  return failed;
}

// Every file that a case reads, once: what is wrong with it is said before any case runs.
void check_input_files(const std::vector<CaseEntry>& cases) {
  std::set<std::string> checked;
  for (const CaseEntry& entry : cases) {
    if (entry.point.inputs.kind != InputKind::file || !checked.insert(entry.point.inputs.file).second)
      continue;
    static_cast<void>(make_inputs(entry.point));
  }
}

}  // namespace

bool matches(std::string_view text, std::string_view pattern) {
  if (pattern.find_first_of("*?") == std::string_view::npos)
    return text.find(pattern) != std::string_view::npos;
  return glob(text, pattern);
}

Selection select_cases(const SelectionArguments& arguments, std::int64_t ranks) {
  Selection selection;
  std::vector<std::string> texts = arguments.cases;
  std::vector<std::filesystem::path> paths = arguments.paths;
  if (!arguments.failed.empty()) {
    FailedCases failed = failed_cases(arguments);
    texts.insert(texts.end(), failed.texts.begin(), failed.texts.end());
    paths.insert(paths.end(), failed.files.begin(), failed.files.end());
  }
  if (paths.empty() && texts.empty() && arguments.random == 0) {
    throw UsageError("nothing to run: name scenario files or folders, or use --case, --random or --failed");
  }
  if (!paths.empty()) add_scenarios(paths, selection);
  if (!texts.empty()) {
    const std::vector<CaseEntry> known = std::move(selection.cases);
    selection.cases.clear();
    for (const std::string& text : texts) selection.cases.push_back(case_by_text(text, known));
  }
  if (arguments.random > 0) {
    const std::vector<std::string> kernels = {arguments.kernel.empty() ? "cpu" : arguments.kernel};
    auto random = random_cases(arguments.random, arguments.seed, ranks, kernels);
    selection.histogram = histogram(random);
    std::move(random.begin(), random.end(), std::back_inserter(selection.cases));
  }
  std::erase_if(selection.cases, [&](const CaseEntry& entry) {
    return !matches(entry.text, arguments.match) ||
           (!arguments.kernel.empty() && entry.point.kernel != arguments.kernel);
  });
  if (selection.cases.empty()) throw NoScenario("no case is left to run (--match, --kernel)");
  check_input_files(selection.cases);
  return selection;
}

}  // namespace straddle::harness
