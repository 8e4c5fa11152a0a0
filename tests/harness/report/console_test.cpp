#include "harness/report/console.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "golden.hpp"
#include "hand_made.hpp"
#include "harness/report/output_file.hpp"

namespace straddle::harness {
namespace {

// A run as the runner reports it: cases that are left out have no beginning.
void report(Reporter& reporter, const RunInfo& info, const std::vector<CaseRecord>& records) {
  reporter.begin(info);
  std::int64_t index = 0;
  for (const CaseRecord& record : records) {
    const bool runs = record.verdict != Verdict::skipped && record.verdict != Verdict::not_applicable;
    if (runs) reporter.before_case(record.entry, index);
    reporter.after_case(record);
    ++index;
  }
  reporter.end(hand_made::totals(records));
}

std::string console_text(const std::vector<CaseRecord>& records, const ConsoleOptions& options,
                         const RunInfo& info = hand_made::run()) {
  std::ostringstream out;
  report(*console_reporter(out, options), info, records);
  return out.str();
}

ConsoleOptions with(int verbosity) {
  ConsoleOptions options;
  options.verbosity = verbosity;
  return options;
}

TEST_CASE("the pictures of a run") {
  const auto records = hand_made::small_run();
  check_golden("console.txt", console_text(records, {}));
  check_golden("console_quiet.txt", console_text(records, with(-1)));
  check_golden("console_verbose.txt", console_text({hand_made::mismatch()}, with(1)));
  check_golden("console_operations.txt", console_text({hand_made::hang(), hand_made::crash()}, with(2)));
  ConsoleOptions color;
  color.color = true;
  check_golden("console_color.txt", console_text(records, color));
  ConsoleOptions no_times;
  no_times.times = false;
  no_times.counted = true;
  check_golden("console_no_times_counted.txt", console_text(records, no_times));
  check_golden("console_hang.txt", console_text({hand_made::hang()}, {}));
}

TEST_CASE("-qq prints nothing") { CHECK(console_text(hand_made::small_run(), with(-2)).empty()); }

TEST_CASE("-v prints the command before the case runs") {
  std::ostringstream out;
  const auto console = console_reporter(out, with(1));
  console->begin(hand_made::run());
  console->before_case(hand_made::mismatch().entry, 0);
  CHECK(out.str().ends_with(
      "  repro: mpirun -np 4 straddle run --case W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7\n"));
}

TEST_CASE("each line is there when the call returns") {
  std::ostringstream out;
  const auto console = console_reporter(out, {});
  console->begin(hand_made::run());
  const std::size_t before = out.str().size();
  console->after_case(hand_made::skipped());
  CHECK(out.str().size() > before);
}

TEST_CASE("without times two runs of a build print the same bytes, but for the header of the transport") {
  ConsoleOptions no_times;
  no_times.times = false;
  auto records = hand_made::small_run();
  records.push_back(hand_made::hang());
  RunInfo info = hand_made::run();
  const std::string first = console_text(records, no_times, info);
  for (CaseRecord& record : records) record.ms *= 17;
  for (std::string& where : records.back().where) where.replace(where.find("posted ") + 7, 3, "77.");
  info.run_id = "77b0d2";
  info.folder = "runs/77b0d2";
  CHECK(console_text(records, no_times, info) == first);
  CHECK(first.find("5e1c09") == std::string::npos);
}

TEST_CASE("three blocks a cause; the others keep their line") {
  const std::vector<CaseRecord> records(5, hand_made::mismatch());
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  for (const int blocks : {0, 1, 3, 9}) {
    ConsoleOptions options;
    options.blocks = blocks;
    const std::string text = console_text(records, options);
    CHECK(count(text, "  repro: ") == static_cast<std::size_t>(std::min(blocks, 5)));
    CHECK(count(text, "\nMISMATCH W4/") == 5);
  }
}

TEST_CASE("a console of any width is ASCII without tabs, and its case texts are whole") {
  auto records = hand_made::small_run();
  records.push_back(hand_made::hang());
  records.push_back(hand_made::crash());
  for (const int width : {0, 40, 80, 100, 200}) {
    ConsoleOptions options;
    options.width = width;
    const std::string text = console_text(records, options);
    for (const CaseRecord& record : records) CHECK(text.find(record.entry.text) != std::string::npos);
    for (const char c : text) REQUIRE((c == '\n' || (c >= ' ' && c <= '~')));
    if (width != 100) continue;
    for (const std::string& line : lines_of(text)) {
      CAPTURE(line);
      CHECK((line.size() <= 100 || line.find("repro: ") != std::string::npos));
    }
  }
}

TEST_CASE("a console that can't be written is an error") {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  CHECK_THROWS_AS(console_reporter(out, {})->begin(hand_made::run()), OutputError);
}

}  // namespace
}  // namespace straddle::harness
