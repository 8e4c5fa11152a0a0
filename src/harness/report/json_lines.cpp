#include "harness/report/json_lines.hpp"

#include <functional>

#include "harness/report/json_text.hpp"

namespace straddle::harness {
namespace {

class JsonLinesReporter final : public Reporter {
 public:
  using Write = std::function<void(const std::string&)>;
  explicit JsonLinesReporter(Write write) : write_(std::move(write)) {}

  void begin(const RunInfo& info) override {
    info_ = info;
    write_(run_json(info) + '\n');
  }
  void before_case(const CaseEntry&, std::int64_t) override {}
  void after_case(const CaseRecord& record) override { write_(case_json(record, info_) + '\n'); }
  void end(const RunTotals& totals) override { write_(summary_json(totals, info_) + '\n'); }

 private:
  Write write_;
  RunInfo info_;
};

}  // namespace

std::unique_ptr<Reporter> json_lines_reporter(std::unique_ptr<OutputFile> file) {
  const std::shared_ptr<OutputFile> shared = std::move(file);
  return std::make_unique<JsonLinesReporter>([shared](const std::string& line) { shared->write(line); });
}

std::unique_ptr<Reporter> json_lines_reporter(std::ostream& out) {
  return std::make_unique<JsonLinesReporter>([&out](const std::string& line) {
    out << line << std::flush;
    if (!out) throw OutputError("JSON Lines can't be written to their stream: is its reader still there?");
  });
}

}  // namespace straddle::harness
