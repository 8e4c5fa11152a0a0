#include "harness/report/junit.hpp"

#include <fmt/format.h>

#include <string>

#include "harness/report/failing_block.hpp"
#include "harness/report/output_file.hpp"
#include "harness/report/repro.hpp"
#include "harness/report/sentence.hpp"
#include "harness/report/xml_text.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kCaseBytes = 4096;  // of a failure's text: viewers cut there
constexpr std::size_t kHeadBytes = 512;
constexpr std::string_view kClosingTags = "</testsuite>\n</testsuites>\n";

struct Counts {
  std::int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
};

// As much as fits, in whole lines, and then where the rest is.
std::string cut(const std::string& text) {
  constexpr std::string_view kRest = "\n.. the rest is in results.jsonl";
  if (text.size() <= kCaseBytes) return text;
  const std::size_t limit = kCaseBytes - kRest.size();
  const std::size_t line_end = text.rfind('\n', limit);
  return text.substr(0, line_end == std::string::npos || line_end == 0 ? limit : line_end) +
         std::string(kRest);
}

class JunitReporter final : public Reporter {
 public:
  explicit JunitReporter(const std::filesystem::path& path) : file_(path) {}

  void begin(const RunInfo& info) override {
    info_ = info;
    write_head();
    tail_ = kHeadBytes;
    file_.write_at(tail_, kClosingTags);
  }

  void before_case(const CaseEntry&, std::int64_t) override {}

  void after_case(const CaseRecord& record) override {
    count(record);
    const std::string element = test_case(record);
    file_.write_at(tail_, element + std::string(kClosingTags));
    tail_ += static_cast<std::int64_t>(element.size());
    write_head();
  }

  void end(const RunTotals&) override {}

 private:
  void count(const CaseRecord& record) {
    ++counts_.tests;
    counts_.seconds += record.ms / 1000;
    switch (record.verdict) {
      case Verdict::pass:
        break;
      case Verdict::mismatch:
      case Verdict::vacuous:
        ++counts_.failures;
        break;
      case Verdict::hang:
      case Verdict::crash:
      case Verdict::lost:
        ++counts_.errors;
        break;
      case Verdict::skipped:
      case Verdict::not_applicable:
        ++counts_.skipped;
        break;
    }
  }

  // XML allows blanks before the end of a tag: they keep the head at its width as the counts grow.
  void write_head() {
    std::string head = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"straddle {}\" "
        "tests=\"{}\" "
        "failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
        xml_attribute(info_.run_id.substr(0, kLongestId)), counts_.tests, counts_.failures, counts_.errors,
        counts_.skipped, counts_.seconds);
    head.resize(kHeadBytes - 2, ' ');
    file_.write_at(0, head + ">\n");
  }

  [[nodiscard]] std::string test_case(const CaseRecord& record) const {
    const CaseEntry& entry = record.entry;
    const std::string repetition =
        record.repetition == 0 ? "" : fmt::format(" repetition {}", record.repetition);
    std::string element =
        fmt::format("<testcase classname=\"{}\" name=\"{}{}\" file=\"{}\" line=\"{}\" time=\"{:.6f}\"",
                    xml_attribute(entry.file.empty() ? "straddle" : entry.file), xml_attribute(entry.text),
                    repetition, xml_attribute(entry.file), entry.line, record.ms / 1000);
    const std::string inner = outcome(record);
    return element + (inner.empty() ? "/>\n" : fmt::format(">\n{}</testcase>\n", inner));
  }

  [[nodiscard]] std::string outcome(const CaseRecord& record) const {
    if (record.verdict == Verdict::pass) return "";
    const std::string sentence = in_short(record);
    if (!is_bad(record.verdict)) {
      return fmt::format("<skipped message=\"{}: {}\"/>\n", name(record.verdict), xml_attribute(sentence));
    }
    const bool ran = record.verdict == Verdict::mismatch || record.verdict == Verdict::vacuous;
    const std::string text = cut(fmt::format("{}\n{}\nrepro: {}\n\n{}", name(record.verdict), sentence,
                                             repro(info_, record), failing_block(record, info_, {})));
    const std::string_view tag = ran ? "failure" : "error";
    return fmt::format("<{} type=\"{}\" message=\"{}\">{}</{}>\n", tag, name(record.verdict),
                       xml_attribute(cut(sentence)), xml_text(text), tag);
  }

  static constexpr std::size_t kLongestId = 40;

  OutputFile file_;
  RunInfo info_;
  Counts counts_;
  std::int64_t tail_ = 0;  // where the closing tags begin
};

}  // namespace

std::unique_ptr<Reporter> junit_reporter(const std::filesystem::path& path) {
  return std::make_unique<JunitReporter>(path);
}

}  // namespace straddle::harness
