#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string_view>
#include <thread>

#include "harness/cli/agree.hpp"
#include "harness/cli/environment.hpp"
#include "harness/cli/exit_file.hpp"
#include "harness/cli/run_arguments.hpp"
#include "harness/cli/version.hpp"
#include "harness/report/console.hpp"
#include "harness/report/json_lines.hpp"
#include "harness/report/junit.hpp"
#include "harness/report/output_file.hpp"
#include "harness/report/progress.hpp"
#include "harness/run/runner.hpp"

namespace straddle::harness {
namespace {

constexpr int kUsage = 2;

std::string new_run_id() {
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const std::uint64_t mixed = (now ^ (static_cast<std::uint64_t>(getpid()) << 32)) * 0x9e3779b97f4a7c15U;
  return fmt::format("{:06x}", mixed >> 40);
}

// What went wrong before a case ran, as a code and a text that ranks can exchange.
template <class Work>
Preparation prepare(const Work& work) {
  try {
    return work();
  } catch (const NoScenario& error) {
    return {5, error.what(), 0};
  } catch (const std::bad_alloc&) {
    return {6, "out of memory", 0};
  } catch (const std::exception& error) {
    return {kUsage, error.what(), 0};
  }
}

std::uint64_t hash_of(const std::vector<CaseEntry>& cases) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const CaseEntry& entry : cases) {
    for (const char c : entry.text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

// True once a debugger is attached to this process (Linux: TracerPid of /proc/self/status).
bool being_traced() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("TracerPid:", 0) == 0) return std::stol(line.substr(10)) != 0;
  }
  return false;
}

void wait_for_debugger(comm::World& world, int rank) {
  if (world.rank() == rank) {
    std::cerr << fmt::format("rank {} is process {} on {} and waits: gdb -p {}", rank, getpid(),
                             world.hosts()[static_cast<std::size_t>(rank)], getpid())
              << std::endl;
    while (!being_traced()) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  world.control().barrier("debugger");
}

// One rank's run: the same steps on every rank, reports on rank 0.
class Session {
 public:
  Session(const RunArguments& arguments, comm::World& world) : arguments_(arguments), world_(world) {}

  // selection: made already (threads), or null: every rank reads for itself and all compare.
  int run(const Selection* selection);

 private:
  [[nodiscard]] std::optional<Preparation> prepare_all(const Selection* selection);
  void open_outputs();
  [[nodiscard]] RunInfo info() const;
  [[nodiscard]] ConsoleOptions console_options() const;
  void make_reporters();
  int fail(const Preparation& failure) const;
  [[nodiscard]] std::filesystem::path folder() const { return arguments_.selection.runs / arguments_.run_id; }

  const RunArguments& arguments_;
  comm::World& world_;
  Selection own_;
  const Selection* selection_ = nullptr;
  std::unique_ptr<OutputFile> results_;
  std::unique_ptr<OutputFile> json_;
  std::vector<std::unique_ptr<Reporter>> reporters_;
};

std::optional<Preparation> Session::prepare_all(const Selection* selection) {
  const Preparation read = prepare([&]() -> Preparation {
    if (selection == nullptr) own_ = select_cases(arguments_.selection, world_.size());
    selection_ = selection == nullptr ? &own_ : selection;
    return {0, "", hash_of(selection_->cases)};
  });
  if (auto failure = first_failure(read, world_.control())) return failure;
  if (arguments_.debug_rank && *arguments_.debug_rank >= world_.size()) {
    return Preparation{
        kUsage, fmt::format("--debug-rank {}: there are {} ranks", *arguments_.debug_rank, world_.size()), 0};
  }
  const Preparation open = prepare([&]() -> Preparation {
    if (world_.rank() == 0) open_outputs();
    return {};
  });
  return first_failure(open, world_.control());
}

void Session::open_outputs() {
  const auto make_folder = [](const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error)
      throw OutputError(fmt::format("{}: can't make this folder: {}", path.string(), error.message()));
  };
  make_folder(folder());
  if (arguments_.save) make_folder(*arguments_.save);
  results_ = std::make_unique<OutputFile>(folder() / "results.jsonl");
  if (!arguments_.json.empty() && arguments_.json != "-")
    json_ = std::make_unique<OutputFile>(arguments_.json);
}

RunInfo Session::info() const {
  return {.run_id = arguments_.run_id,
          .version = std::string(version()),
          .commit = std::string(commit()),
          .seed = arguments_.selection.seed,
          .cases = static_cast<std::int64_t>(selection_->cases.size()),
          .files = selection_->files,
          .titles = selection_->titles,
          .timeout_s = arguments_.debug_rank ? 0 : arguments_.timeout_s,
          .ranks = world_.size(),
          .hosts = world_.hosts(),
          .under_mpi = world_.name() == "mpi",
          .transport = transport_text(world_),
          .kernels = kernel_texts(arguments_.threads),
          .not_here = not_here(world_.size()),
          .folder = folder().string()};
}

bool plain_terminal() {
  const char* const term = std::getenv("TERM");
  return std::getenv("CI") != nullptr || term == nullptr || std::string_view(term) == "dumb";
}

ConsoleOptions Session::console_options() const {
  const bool terminal = isatty(STDOUT_FILENO) != 0 && !plain_terminal() && std::getenv("NO_COLOR") == nullptr;
  ConsoleOptions options;
  options.verbosity = arguments_.verbosity;
  options.color =
      arguments_.color == ColorChoice::always || (arguments_.color == ColorChoice::automatic && terminal);
  options.times = arguments_.times;
  options.blocks = arguments_.blocks;
  options.counted = isatty(STDERR_FILENO) == 0 || plain_terminal();
  return options;
}

void Session::make_reporters() {
  reporters_.push_back(json_lines_reporter(std::move(results_)));
  if (json_) reporters_.push_back(json_lines_reporter(std::move(json_)));
  if (!arguments_.junit.empty()) reporters_.push_back(junit_reporter(arguments_.junit));
  if (arguments_.json == "-") {
    reporters_.push_back(json_lines_reporter(std::cout));
  } else {
    const ConsoleOptions options = console_options();
    if (!options.counted && options.verbosity > -2) {
      reporters_.push_back(progress_reporter(std::cerr, static_cast<std::int64_t>(selection_->cases.size())));
    }
    reporters_.push_back(console_reporter(std::cout, options));
  }
  reporters_.push_back(exit_file_reporter(folder() / "exit"));
}

int Session::fail(const Preparation& failure) const {
  if (world_.rank() == 0) {
    std::cerr << fmt::format("{}\nexit {} ({})", failure.message, failure.exit_code,
                             failure.exit_code == 5   ? "nothing to run"
                             : failure.exit_code == 2 ? "usage"
                                                      : "internal")
              << std::endl;
  }
  return failure.exit_code;
}

int Session::run(const Selection* selection) {
  if (auto failure = prepare_all(selection)) return fail(*failure);
  std::vector<Reporter*> reporters;
  if (world_.rank() == 0) {
    make_reporters();
    if (!selection_->histogram.empty() && arguments_.json != "-" && arguments_.verbosity > -1) {
      std::cout << selection_->histogram << std::endl;
    }
    for (const auto& reporter : reporters_) reporters.push_back(reporter.get());
    for (Reporter* reporter : reporters) reporter->begin(info());
  }
  if (arguments_.debug_rank) wait_for_debugger(world_, *arguments_.debug_rank);
  const RunOptions options{.timeout_s = arguments_.debug_rank ? 0 : arguments_.timeout_s,
                           .threads = arguments_.threads,
                           .repeat = arguments_.repeat,
                           .strict = arguments_.strict,
                           .save = arguments_.save,
                           .run_folder = folder(),
                           .seams = {}};
  return run_cases(world_, selection_->cases, options, reporters).exit_code;
}

}  // namespace

int bisect_code(int exit_code) {
  switch (exit_code) {
    case 0:
      return 0;
    case 1:
    case 3:
    case 4:
      return 1;
    default:
      return 125;
  }
}

int run(const RunArguments& asked) {
  RunArguments arguments = asked;
  if (arguments.run_id.empty()) arguments.run_id = new_run_id();
  int code = 0;
  if (uses_mpi(arguments.launch)) {
    code =
        launch(arguments.launch, [&](comm::World& world) { return Session(arguments, world).run(nullptr); });
  } else {
    const std::int64_t ranks = arguments.launch.ranks == 0 ? kDefaultThreads : arguments.launch.ranks;
    const Selection selection = select_cases(arguments.selection, ranks);
    code = launch(arguments.launch,
                  [&](comm::World& world) { return Session(arguments, world).run(&selection); });
  }
  return arguments.exit == ExitStyle::bisect ? bisect_code(code) : code;
}

}  // namespace straddle::harness
