#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "harness/cli/launch.hpp"
#include "harness/cli/selection.hpp"
#include "harness/cli/verbs.hpp"

namespace straddle::harness {
namespace {

struct ListArguments {
  SelectionArguments selection;
  std::int64_t ranks = 8;
};

// One case a line: its text, where it stands, and why it would not run.
void list(const ListArguments& arguments) {
  if (!speaks_before_ranks_meet()) return;
  const Selection selection = select_cases(arguments.selection, arguments.ranks);
  std::int64_t would_run = 0;
  std::int64_t skipped = 0;
  std::int64_t not_applicable = 0;
  for (const CaseEntry& entry : selection.cases) {
    std::string note;
    if (entry.not_applicable) {
      note = fmt::format("  # not applicable: {}", *entry.not_applicable);
      ++not_applicable;
    } else if (entry.point.ranks > arguments.ranks) {
      note = fmt::format("  # needs {} ranks", entry.point.ranks);
      ++skipped;
    } else {
      ++would_run;
    }
    const std::string place = entry.file.empty() ? "" : fmt::format("  {}:{}", entry.file, entry.line);
    std::cout << entry.text << place << note << '\n';
  }
  std::cout << fmt::format(
      "{} cases of {} files: {} run with {} ranks, {} need more ranks, {} not applicable\n",
      selection.cases.size(), selection.files, would_run, arguments.ranks, skipped, not_applicable);
}

}  // namespace

void add_list_verb(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("list", "List the cases of scenarios without running them");
  const auto arguments = std::make_shared<ListArguments>();
  verb->add_option("paths", arguments->selection.paths, "Scenario files and folders");
  verb->add_option("--match", arguments->selection.match,
                   "Only cases whose text holds this, or matches it with * and ?");
  verb->add_option("--kernel", arguments->selection.kernel, "Only cases with this kernel");
  verb->add_option("--random", arguments->selection.random, "This many random cases")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--seed", arguments->selection.seed, "Seed of --random")->capture_default_str();
  verb->add_option("--ranks", arguments->ranks, "Ranks that a run would have")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->callback([arguments, &exit_code] {
    list(*arguments);
    exit_code = 0;
  });
}

}  // namespace straddle::harness
