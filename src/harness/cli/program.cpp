#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "harness/cli/launch.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/cli/version.hpp"
#include "harness/inputs/inputs.hpp"
#include "harness/report/output_file.hpp"
#include "harness/scenario/scenario.hpp"
#include "pack/pack.hpp"
#include "tensor/safetensors.hpp"

namespace straddle::harness {
namespace {

constexpr int kUsage = 2;
constexpr int kUncovered = 5;
constexpr int kInternal = 6;

// Every rank of a launcher parses the same arguments and fails alike: one voice is enough.
void say(const std::string& message) {
  if (speaks_before_ranks_meet()) std::cerr << message << std::endl;
}

template <class... Kinds>
bool is_one_of(const std::exception& error) {
  return (... || (dynamic_cast<const Kinds*>(&error) != nullptr));
}

int explain(const std::exception& error) {
  if (is_one_of<NoScenario>(error)) {
    say(fmt::format("straddle: {}\nexit 5 (nothing to run)", error.what()));
    return kUncovered;
  }
  if (is_one_of<ScenarioError, CaseTextError, UsageError, pack::PackError, InputError, OutputError,
                tensor::SafetensorsError>(error)) {
    say(fmt::format("straddle: {}\nexit 2 (usage)", error.what()));
    return kUsage;
  }
  say(fmt::format("straddle: internal error: {}\nexit 6 (internal)", error.what()));
  return kInternal;
}

int parse_and_run(CLI::App& app, int argc, char** argv, int& exit_code) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (!speaks_before_ranks_meet()) return error.get_exit_code() == 0 ? 0 : kUsage;
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return exit_code;
}

}  // namespace

int run_program(int argc, char** argv) {
  CLI::App app(
      "straddle judges context-parallel attention over packed sequences: is it right, and if not, where?\n"
      "Exit codes: 0 pass, 1 mismatch, 2 usage, 3 hang, 4 crash or lost rank, 5 vacuous, 6 internal, 77 "
      "nothing "
      "applicable",
      "straddle");
  app.set_version_flag("--version", fmt::format("straddle {} ({})", version(), commit()));
  app.require_subcommand(1);
  int exit_code = 0;
  add_run_verb(app, exit_code);
  add_list_verb(app, exit_code);
  add_plan_verb(app, exit_code);
  add_bench_verb(app, exit_code);
  add_doctor_verb(app, exit_code);
  try {
    return parse_and_run(app, argc, argv, exit_code);
  } catch (const std::exception& error) {
    return explain(error);
  }
}

}  // namespace straddle::harness
