#include "harness/cli/exit_file.hpp"

#include <fmt/format.h>

#include "harness/report/output_file.hpp"

namespace straddle::harness {
namespace {

class ExitFileReporter final : public Reporter {
 public:
  explicit ExitFileReporter(std::filesystem::path path) : path_(std::move(path)) {}

  void begin(const RunInfo&) override {}
  void before_case(const CaseEntry&, std::int64_t) override {}
  void after_case(const CaseRecord&) override {}
  void end(const RunTotals& totals) override {
    OutputFile(path_).write(fmt::format("{}\n", totals.exit_code));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::unique_ptr<Reporter> exit_file_reporter(std::filesystem::path path) {
  return std::make_unique<ExitFileReporter>(std::move(path));
}

}  // namespace straddle::harness
