#include "harness/run/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <stdexcept>

#include "harness/run/examiner.hpp"
#include "harness/run/save.hpp"
#include "harness/run/watchdog.hpp"

namespace straddle::harness {
namespace {

using Clock = std::chrono::steady_clock;

// What every rank agrees on before each case; the maximum over ranks.
enum Turn : std::uint64_t { kGoOn = 0, kStop = 1 };

class Runner {
 public:
  Runner(comm::World& world, std::span<const CaseEntry> cases, const RunOptions& options,
         std::span<Reporter* const> reporters)
      : world_(world),
        cases_(cases),
        options_(options),
        reporters_(reporters),
        subject_(options.timeout_s, options.threads, options.seams),
        examiner_(subject_, world,
                  options.save
                      ? Examiner::Keep([this](const Case& point, const std::vector<LayerResults>& layers) {
                          save_results(*options_.save, point, layers);
                        })
                      : Examiner::Keep{}),
        watchdog_([this] { give_up(); }) {}

  RunTotals run();

 private:
  [[nodiscard]] bool printing() const { return world_.rank() == 0; }
  [[nodiscard]] bool watching() const {
    // Threads share a process: one watchdog ends them all.
    return options_.timeout_s > 0 && (world_.name() != "threads" || printing());
  }
  std::optional<CaseRecord> without_running(const CaseEntry& entry) const;
  void run_case(const CaseEntry& entry, std::int64_t repetition);
  bool turn();
  void report(const CaseRecord& record);
  void compare_repetitions(CaseRecord& record);
  void finish();
  void end_reports();
  [[nodiscard]] int exit_code_of_all() const;
  void note_where(const std::string& sentence) const;
  [[noreturn]] void end_stranded();
  [[noreturn]] void give_up();

  comm::World& world_;
  std::span<const CaseEntry> cases_;
  const RunOptions& options_;
  std::span<Reporter* const> reporters_;
  OpSubject subject_;
  Examiner examiner_;
  RunTotals totals_;
  std::exception_ptr reporting_failed_;
  std::map<std::string, std::uint64_t> first_checksums_;  // of the case's first repetition
  const CaseEntry* current_ = nullptr;
  Clock::time_point start_ = Clock::now();
  Watchdog watchdog_;
};

std::optional<CaseRecord> Runner::without_running(const CaseEntry& entry) const {
  CaseRecord record;
  record.entry = entry;
  if (entry.not_applicable) {
    record.verdict = Verdict::not_applicable;
    record.reasons = {*entry.not_applicable};
    return record;
  }
  if (entry.point.ranks <= world_.size()) return std::nullopt;
  record.verdict = Verdict::skipped;
  record.reasons = {fmt::format("needs {} ranks, {} started", entry.point.ranks, world_.size())};
  return record;
}

// False when some rank can't go on (rank 0's reports failed): all ranks stop together.
bool Runner::turn() {
  std::uint64_t turn = reporting_failed_ ? kStop : kGoOn;
  world_.control().all_reduce_max("turn", std::span(&turn, 1));
  return turn == kGoOn;
}

void Runner::report(const CaseRecord& record) {
  ++totals_.count[record.verdict];
  // A skipped case leaves the code alone: what it means is decided at the end, when it is known whether any
  // case ran.
  if (record.verdict != Verdict::skipped && record.verdict != Verdict::not_applicable) {
    totals_.exit_code = gravest(totals_.exit_code, exit_code(record.verdict));
  }
  try {
    for (Reporter* reporter : reporters_) reporter->after_case(record);
  } catch (...) {
    reporting_failed_ = std::current_exception();
  }
}

void Runner::compare_repetitions(CaseRecord& record) {
  if (record.repetition == 0) {
    first_checksums_ = record.checksums;
    return;
  }
  for (const auto& [tensor, sum] : record.checksums) {
    const auto first = first_checksums_.find(tensor);
    if (first == first_checksums_.end() || first->second == sum) continue;
    record.reasons.push_back(
        fmt::format("repetition {} gave other bits in {} than the first", record.repetition, tensor));
    record.verdict = Verdict::mismatch;
  }
}

void Runner::run_case(const CaseEntry& entry, std::int64_t repetition) {
  current_ = &entry;
  // Beyond the deadline's own error, time for ranks to meet, then for the oracle and the judgement.
  if (watching()) watchdog_.arm(std::chrono::duration<double>(3 * options_.timeout_s + options_.grace_s));
  CaseRecord record = examiner_.examine(entry);
  watchdog_.disarm();
  record.repetition = repetition;
  if (record.verdict == Verdict::hang) note_where(record.reasons.empty() ? "" : record.reasons.front());
  if (printing()) {
    compare_repetitions(record);
    report(record);
  }
  if (examiner_.stranded() && !world_.recover()) end_stranded();
}

RunTotals Runner::run() {
  std::int64_t index = 0;
  for (const CaseEntry& entry : cases_) {
    if (auto record = without_running(entry)) {
      if (printing()) report(*record);
      ++index;
      continue;
    }
    bool go_on = true;
    for (std::int64_t repetition = 0; repetition < options_.repeat && go_on; ++repetition) {
      go_on = turn();
      if (!go_on) break;
      if (printing() && !reporting_failed_) {
        try {
          for (Reporter* reporter : reporters_) reporter->before_case(entry, index);
        } catch (...) {
          reporting_failed_ = std::current_exception();
        }
      }
      run_case(entry, repetition);
    }
    if (!go_on) break;
    ++index;
  }
  finish();
  return totals_;
}

// The gravest verdict, and what it means that no case was judged.
int Runner::exit_code_of_all() const {
  std::int64_t judged = 0;
  for (const auto& [verdict, count] : totals_.count) {
    if (verdict != Verdict::skipped && verdict != Verdict::not_applicable) judged += count;
  }
  if (judged > 0) return totals_.exit_code;
  if (totals_.count.contains(Verdict::skipped)) return 2;  // every case needs more ranks than were started
  return totals_.count.empty() || options_.strict ? 5 : 77;
}

// Every rank leaves with rank 0's exit code.
void Runner::finish() {
  totals_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (printing()) totals_.exit_code = exit_code_of_all();
  auto code = static_cast<std::uint64_t>(printing() ? totals_.exit_code : 0);
  if (printing() && reporting_failed_) code = 2;
  world_.control().all_reduce_max("exit code", std::span(&code, 1));
  totals_.exit_code = static_cast<int>(code);
  if (!printing()) return;
  if (reporting_failed_) std::rethrow_exception(reporting_failed_);
  end_reports();
}

// Where this rank stands, for the log of its own: what rank 0 can't print for it.
void Runner::note_where(const std::string& sentence) const {
  if (!options_.run_folder) return;
  std::ofstream log(*options_.run_folder / fmt::format("rank{}.log", world_.rank()), std::ios::app);
  log << (current_ != nullptr ? current_->text : "") << ": " << sentence << "\n  " << subject_.where()
      << "\n";
}

// The ranks met over control but can't use the transport under test again: everything is reported, then all
// end at once.
void Runner::end_stranded() {
  totals_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (printing()) end_reports();
  auto code = static_cast<std::uint64_t>(printing() ? totals_.exit_code : 0);
  world_.control().all_reduce_max("exit code", std::span(&code, 1));
  world_.abort(static_cast<int>(code));
  throw std::logic_error("World::abort came back");
}

void Runner::end_reports() {
  for (Reporter* reporter : reporters_) reporter->end(totals_);
}

// On the watchdog's thread: the main thread is stuck in a kernel or waits for a rank that is.
void Runner::give_up() {
  note_where("no rank could end this case; the process gives up");
  if (printing() && current_ != nullptr) {
    CaseRecord record;
    record.entry = *current_;
    record.verdict = Verdict::hang;
    record.reasons = {"some rank never came back from this case, not even past its deadline"};
    record.where = {subject_.where()};
    report(record);
    totals_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    end_reports();
  }
  _exit(exit_code(Verdict::hang));
}

}  // namespace

RunTotals run_cases(comm::World& world, std::span<const CaseEntry> cases, const RunOptions& options,
                    std::span<Reporter* const> reporters) {
  return Runner(world, cases, options, reporters).run();
}

}  // namespace straddle::harness
