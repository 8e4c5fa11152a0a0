#include "harness/report/case_line.hpp"

#include <doctest/doctest.h>

#include "golden.hpp"
#include "hand_made.hpp"

namespace straddle::harness {
namespace {

const std::string kText = "W2/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7";

TEST_CASE("the columns of a line stand under those of the heading") {
  const std::string heading = table_heading({});
  const std::string line = case_line(hand_made::pass(hand_made::entry(kText), 6144), {});
  CHECK(line ==
        "pass     W2/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7       a2a              6.0 KiB   0.14 d_q d0    =  "
        "0.8\n");
  CHECK(heading.find("case") == line.find("W2/"));
  CHECK(heading.find("path taken") == line.find("a2a  "));
  CHECK(heading.find("K/V moved") + 8 == line.find("KiB") + 3);
  CHECK(heading.size() == line.size());
  CHECK(heading.size() <= 101);
  LineOptions no_times;
  no_times.times = false;
  CHECK(table_heading(no_times) == heading.substr(0, heading.size() - 6) + "\n");
  CHECK(case_line(hand_made::pass(hand_made::entry(kText), 6144), no_times) ==
        line.substr(0, line.size() - 6) + "\n");
}

TEST_CASE("bits: = equal, ! not, - not compared") {
  CaseRecord record = hand_made::pass(hand_made::entry(kText));
  const auto bits = [&] { return lines_of(case_line(record, {}))[0].substr(94, 1); };
  CHECK(bits() == "=");
  record.judgement.bits.equal = false;
  CHECK(bits() == "!");
  record.judgement.bits.equal = true;
  record.judgement.bits.changed_share_d_kv = 0.17;
  record.judgement.bits.allowed_share = 0.01;
  CHECK(bits() == "!");
  record.judgement.bits.changed_share_d_kv = 0.001;
  CHECK(bits() == "=");
  record.judgement.bits.compared = false;
  CHECK(bits() == "-");
}

TEST_CASE("the worst ratio is the line's, with its layer where there are several") {
  CaseRecord record = hand_made::pass(hand_made::entry(kText + "/layers:2"));
  REQUIRE(record.entry.point.layers == 2);
  hand_made::tensor_of(record.judgement, "d_v", 2, 1).ratio = 0.72;
  CHECK(case_line(record, {}).find(" 0.72 d_v d2 l1 ") != std::string::npos);
}

TEST_CASE("a case text is never cut: what has no room follows in a line of its own") {
  CaseRecord record = hand_made::pass(hand_made::entry(kText), 6144);
  record.facts.path.reason = pack::PathReason::preflight_failed;
  for (const std::string& text : {kText, "W2/" + std::string(60, '1'), "W2/" + std::string(200, '1')}) {
    record.entry.text = text;
    for (std::size_t width = 40; width <= 120; width += 7) {
      CAPTURE(width);
      LineOptions options;
      options.width = width;
      const auto lines = lines_of(case_line(record, options));
      REQUIRE(lines.size() <= 2);
      const std::string together = lines[0] + (lines.size() == 2 ? lines[1] : "");
      CHECK(together.find(text) != std::string::npos);
      CHECK(together.find("preflight_failed") != std::string::npos);
      CHECK(together.find("0.14 d_q d0") != std::string::npos);
      // Alone on its line, behind the verdict, where it is too long for the width.
      CHECK((lines[0].size() <= width || lines[0] == "pass     " + text));
    }
  }
}

TEST_CASE("a case text a little too long moves the path, not the columns behind it") {
  CaseRecord record = hand_made::pass(hand_made::entry(kText), 12288);
  const std::string usual = case_line(record, {});
  for (std::size_t size = 36; size < 60; ++size) {
    record.entry.text = std::string(size, 'x');
    const auto lines = lines_of(case_line(record, {}));
    CAPTURE(size);
    CHECK(lines.size() == (size <= 54 ? 1 : 2));
    CHECK(lines.back().ends_with(" a2a 12.0 KiB   0.14 d_q d0    =  0.8") == (size == 54));
    CHECK(lines.back().find("12.0 KiB") == usual.find("12.0 KiB"));
  }
}

TEST_CASE("what was not judged says why, long reasons in lines of their own") {
  CHECK(case_line(hand_made::skipped(), {}) ==
        "skip     W8/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7       needs 8 ranks, 4 started\n");
  CaseRecord record = hand_made::vacuous();
  record.reasons.emplace_back(
      "the exact d_q is 0 over the whole case, and so is every other tensor that it names");
  const auto lines = lines_of(case_line(record, {}));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "VACUOUS  " + record.entry.text);
  CHECK(lines[1].starts_with("         expected a straddle, but b = 0 0; the exact d_q"));
  for (const std::string& line : lines) CHECK(line.size() <= 100);
}

TEST_CASE("colour repeats the verdict word and nothing else") {
  LineOptions color;
  color.color = true;
  for (const CaseRecord& record : hand_made::small_run()) {
    const std::string plain = case_line(record, {});
    std::string text = case_line(record, color);
    const std::size_t end = text.find("\x1b[0m");
    REQUIRE(end != std::string::npos);
    CHECK(text.find(' ') > end);
    text.erase(end, 4);
    text.erase(0, text.find('m') + 1);
    CHECK(text == plain);
  }
}

}  // namespace
}  // namespace straddle::harness
