#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "harness/cli/run_arguments.hpp"
#include "harness/cli/verbs.hpp"

namespace straddle::harness {
namespace {

void add_selection_options(CLI::App& verb, SelectionArguments& selection) {
  verb.add_option("paths", selection.paths, "Scenario files and folders");
  verb.add_option("--case", selection.cases,
                  "A case by its text; with its scenario file when the text holds a hash");
  verb.add_option("--match", selection.match, "Only cases whose text holds this, or matches it with * and ?");
  verb.add_option("--kernel", selection.kernel,
                  "Only cases with this kernel; random cases are drawn with it");
  verb.add_option("--failed", selection.failed,
                  "The cases that failed in an earlier run: its folder or its id");
  verb.add_option("--random", selection.random, "This many random cases")->check(CLI::NonNegativeNumber);
  verb.add_option("--seed", selection.seed, "Seed of --random")->capture_default_str();
  verb.add_option("--runs", selection.runs, "Folder of all runs' results")->capture_default_str();
}

void add_run_options(CLI::App& verb, RunArguments& arguments) {
  const std::map<std::string, TransportChoice> transports = {{"auto", TransportChoice::automatic},
                                                             {"threads", TransportChoice::threads},
                                                             {"mpi", TransportChoice::mpi}};
  verb.add_option("--transport", arguments.launch.transport,
                  "auto, threads or mpi (default: mpi under a launcher)")
      ->transform(CLI::Transformer(transports))
      ->check(CLI::IsMember({TransportChoice::automatic, TransportChoice::threads, TransportChoice::mpi}));
  verb.add_option("--ranks", arguments.launch.ranks,
                  "Ranks as threads (default 8); under a launcher what it started")
      ->check(CLI::PositiveNumber);
  verb.add_option("--threads", arguments.threads, "Threads of each rank's kernel")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  verb.add_option("--timeout", arguments.timeout_s, "Deadline of a case in seconds; 0: none")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  verb.add_option("--repeat", arguments.repeat, "Runs of each case, which must have the same bits")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb.add_option("--debug-rank", arguments.debug_rank, "This rank waits for a debugger; no deadline")
      ->check(CLI::NonNegativeNumber);
}

void add_output_options(CLI::App& verb, RunArguments& arguments) {
  const std::map<std::string, ExitStyle> styles = {{"plain", ExitStyle::plain},
                                                   {"bisect", ExitStyle::bisect}};
  const std::map<std::string, ColorChoice> colors = {
      {"auto", ColorChoice::automatic}, {"always", ColorChoice::always}, {"never", ColorChoice::never}};
  verb.add_option("--exit", arguments.exit,
                  "plain, or bisect: 125 for what can't be judged, as `git bisect run` wants")
      ->transform(CLI::Transformer(styles))
      ->check(CLI::IsMember({ExitStyle::plain, ExitStyle::bisect}));
  verb.add_option("--save", arguments.save, "Folder for the results of each case, as safetensors");
  verb.add_option("--run-id", arguments.run_id, "Name of this run's folder")
      ->check([](const std::string& id) {
        return id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
                           std::string::npos &&
                       !id.empty() && id.front() != '.'
                   ? std::string()
                   : "a run id has letters, digits, . _ and - only";
      });
  verb.add_option("--json", arguments.json,
                  "JSON Lines to this file too; -: to standard output, nothing else there");
  verb.add_option("--junit", arguments.junit, "JUnit XML to this file");
  verb.add_flag("--strict", arguments.strict, "A run in which nothing is applicable exits with 5, not 77");
  verb.add_flag("--no-times{false}", arguments.times, "Leave times out: two runs print the same text");
  verb.add_option("--blocks", arguments.blocks, "Failing blocks shown for each cause")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb.add_option("--color", arguments.color, "auto, always or never")
      ->transform(CLI::Transformer(colors))
      ->check(CLI::IsMember({ColorChoice::automatic, ColorChoice::always, ColorChoice::never}));
}

}  // namespace

void add_run_verb(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("run", "Run scenarios, case texts or random cases and judge them");
  const auto arguments = std::make_shared<RunArguments>();
  add_selection_options(*verb, arguments->selection);
  add_run_options(*verb, *arguments);
  add_output_options(*verb, *arguments);
  const auto quiet = std::make_shared<int>(0);
  const auto verbose = std::make_shared<int>(0);
  auto* const quiet_flag =
      verb->add_flag("-q,--quiet", *quiet, "Bad lines and the summary only; -qq: the exit code only");
  verb->add_flag("-v,--verbose", *verbose,
                 "Facts, all tensors and the repro line before each case; -vv: operations")
      ->excludes(quiet_flag);
  verb->callback([arguments, quiet, verbose, &exit_code] {
    arguments->verbosity = std::clamp(*verbose - *quiet, -2, 2);
    exit_code = run(*arguments);
  });
}

}  // namespace straddle::harness
