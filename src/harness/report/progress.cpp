#include "harness/report/progress.hpp"

#include <fmt/format.h>

#include <chrono>

#include "harness/report/text.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kColumns = 79;
constexpr std::string_view kErase = "\r\x1b[K";

class ProgressReporter final : public Reporter {
 public:
  ProgressReporter(std::ostream& err, std::int64_t cases) : err_(err), cases_(cases) {}

  void begin(const RunInfo&) override { start_ = Clock::now(); }

  void before_case(const CaseEntry& entry, std::int64_t index) override {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    std::string line = fmt::format("{}/{}  {}", index + 1, cases_, seconds_text(seconds));
    for (const auto& [verdict, count] : bad_) line += fmt::format("  {} {}", count, name(verdict));
    if (line.size() + 2 + entry.text.size() <= kColumns) line += "  " + entry.text;
    err_ << kErase << line.substr(0, kColumns) << std::flush;
    drawn_ = true;
  }

  void after_case(const CaseRecord& record) override {
    if (is_bad(record.verdict)) ++bad_[record.verdict];
    erase();
  }

  void end(const RunTotals&) override { erase(); }

 private:
  using Clock = std::chrono::steady_clock;

  void erase() {
    if (drawn_) err_ << kErase << std::flush;
    drawn_ = false;
  }

  std::ostream& err_;
  std::int64_t cases_;
  std::map<Verdict, std::int64_t> bad_;
  Clock::time_point start_ = Clock::now();
  bool drawn_ = false;
};

}  // namespace

std::unique_ptr<Reporter> progress_reporter(std::ostream& err, std::int64_t cases) {
  return std::make_unique<ProgressReporter>(err, cases);
}

}  // namespace straddle::harness
