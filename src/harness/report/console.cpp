#include "harness/report/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/report/case_details.hpp"
#include "harness/report/case_line.hpp"
#include "harness/report/failing_block.hpp"
#include "harness/report/header.hpp"
#include "harness/report/output_file.hpp"
#include "harness/report/repro.hpp"
#include "harness/report/summary.hpp"

namespace straddle::harness {
namespace {

class ConsoleReporter final : public Reporter {
 public:
  ConsoleReporter(std::ostream& out, const ConsoleOptions& options)
      : out_(out),
        options_(options),
        width_(static_cast<std::size_t>(std::max(options.width, kNarrowest))),
        tally_(options.blocks) {}

  void begin(const RunInfo& info) override {
    info_ = info;
    if (options_.verbosity >= 0) print(run_header(info_, options_.times, width_));
  }

  void before_case(const CaseEntry& entry, std::int64_t) override {
    if (options_.verbosity < 1) return;
    print(heading(entry) + fmt::format("  repro: {}\n", repro(info_, entry)));
  }

  void after_case(const CaseRecord& record) override {
    if (record.repetition == 0) ++ended_;
    const Causes::Counted counted = tally_.add(record);
    if (options_.verbosity < -1 || (options_.verbosity < 0 && !is_bad(record.verdict))) return;
    print(heading(record.entry) + (options_.counted ? count_text(ended_) : "") + shown(record, counted));
  }

  void end(const RunTotals& totals) override {
    if (options_.verbosity < -1) return;
    const SummaryOptions options{
        .times = options_.times, .not_here = options_.verbosity < 0, .width = width_};
    print((ended_ > 0 && options_.verbosity >= 0 ? "\n" : "") + summary(info_, totals, tally_, options));
  }

 private:
  static constexpr int kNarrowest = 40;

  void print(const std::string& text) {
    out_ << text << std::flush;
    if (!out_) throw OutputError("the console can't be written: is its reader still there, its disk full?");
  }

  // Above the first case of each file.
  std::string heading(const CaseEntry& entry) {
    if (options_.verbosity < 0 || file_ == entry.file) return "";
    const bool is_first = !file_;
    file_ = entry.file;
    const std::string title = file_heading(info_, entry.file, width_);
    if (!is_first && title.empty()) return "";
    return title + std::string(options_.counted ? count_text(0).size() : 0, ' ') +
           table_heading(line_options());
  }

  // "[ 87/412] ", as wide for every case.
  [[nodiscard]] std::string count_text(std::int64_t count) const {
    const std::string cases = fmt::format("{}", info_.cases);
    return fmt::format("[{:>{}}/{}] ", count, cases.size(), cases);
  }

  [[nodiscard]] LineOptions line_options() const {
    return {.color = options_.color, .times = options_.times, .width = width_};
  }

  // A hang or crash has nothing to measure: its block is its line.
  [[nodiscard]] std::string shown(const CaseRecord& record, const Causes::Counted& counted) const {
    const BlockOptions options{
        .cause = counted.number, .color = options_.color, .times = options_.times, .width = width_};
    const bool measured = record.verdict == Verdict::mismatch || record.verdict == Verdict::vacuous;
    const std::string block = counted.show_block ? failing_block(record, info_, options) : "";
    std::string text = block.empty() || measured ? case_line(record, line_options()) : "";
    if (options_.verbosity >= 1) text += case_details(record, width_);
    if (options_.verbosity >= 2 && (block.empty() || measured)) text += operations(record, width_);
    return text + block;
  }

  std::ostream& out_;
  ConsoleOptions options_;
  std::size_t width_;
  Tally tally_;
  RunInfo info_;
  std::optional<std::string> file_;  // of the last case
  std::int64_t ended_ = 0;
};

}  // namespace

std::unique_ptr<Reporter> console_reporter(std::ostream& out, const ConsoleOptions& options) {
  return std::make_unique<ConsoleReporter>(out, options);
}

}  // namespace straddle::harness
