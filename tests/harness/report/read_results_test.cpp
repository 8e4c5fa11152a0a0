#include <doctest/doctest.h>

#include <fstream>

#include "golden.hpp"
#include "hand_made.hpp"
#include "harness/report/json_lines.hpp"
#include "harness/report/json_text.hpp"
#include "scratch.hpp"

namespace straddle::harness {
namespace {

class ResultsFile {
 public:
  [[nodiscard]] std::string path() const { return (folder_.path() / "results.jsonl").string(); }
  [[nodiscard]] Results read(const std::string& text) const {
    std::ofstream(path(), std::ios::binary) << text;
    return read_results(path());
  }

 private:
  Scratch folder_;
};

std::string whole_run() {
  const RunInfo info = hand_made::run();
  std::string text = run_json(info) + "\n";
  for (const CaseRecord& record : {hand_made::mismatch(), hand_made::skipped(), hand_made::vacuous()}) {
    text += case_json(record, info) + "\n";
  }
  return text + summary_json({}, info) + "\n";
}

TEST_CASE("what was written is read: texts, verdicts, files, lines") {
  const Results results = ResultsFile().read(whole_run());
  CHECK(results.run_id == "5e1c09");
  CHECK(results.complete);
  CHECK(!results.last_line_cut);
  REQUIRE(results.cases.size() == 3);
  CHECK(results.cases[0].text == "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  CHECK(results.cases[0].verdict == "mismatch");
  CHECK(results.cases[0].file == "scenarios/three_ranks.toml");
  CHECK(results.cases[0].line == 11);
  CHECK(results.cases[1].verdict == "skipped");
  CHECK(results.cases[2].verdict == "vacuous");
}

TEST_CASE("a run that was cut off anywhere behind its first line gives the whole records before the cut") {
  const ResultsFile file;
  const std::string text = whole_run();
  const std::size_t first = text.find('\n');
  for (std::size_t size = first; size <= text.size(); size += size < text.size() - 5 ? 97 : 1) {
    const std::string part = text.substr(0, size);
    const Results results = file.read(part);
    const auto breaks = static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    const bool at_line_end = size == text.size() || text[size] == '\n' || text[size - 1] == '\n';
    const std::size_t records = breaks + (text[size - 1] != '\n' && at_line_end ? 1 : 0);
    CAPTURE(size);
    CHECK(results.cases.size() == std::min<std::size_t>(records - 1, 3));
    CHECK(results.complete == (records == 5));
    CHECK(results.last_line_cut == !at_line_end);
  }
}

TEST_CASE("what is no results file is refused with file and line") {
  const ResultsFile file;
  const std::string text = whole_run();
  CHECK_THROWS_WITH_AS(
      static_cast<void>(file.read("")),
      (file.path() + ": the file is empty: the run was cut off before its first case").c_str(), ResultsError);
  CHECK_THROWS_WITH_AS(static_cast<void>(file.read("hello\n")),
                       (file.path() + ":1: expected one JSON object with a schema on this line").c_str(),
                       ResultsError);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(file.read("{\"schema\": \"other/1\"}\n")),
      (file.path() + ":1: expected a record straddle.run/1, not other/1: is this a results.jsonl?").c_str(),
      ResultsError);
  std::string broken = text;
  broken.insert(text.find('\n') + 1, "not json\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(file.read(broken)),
                       (file.path() + ":2: expected one JSON object with a schema on this line").c_str(),
                       ResultsError);
  std::string newer = text;
  newer.replace(newer.find("straddle.case/1"), 15, "straddle.case/2");
  CHECK_THROWS_AS(static_cast<void>(file.read(newer)), ResultsError);
  std::string added = text;
  added.insert(text.find('\n') + 1, "{\"schema\": \"straddle.later/1\"}\n");
  CHECK(file.read(added).cases.size() == 3);
  CHECK_THROWS_AS(static_cast<void>(read_results("/no such folder/results.jsonl")), ResultsError);
  CHECK_THROWS_AS(static_cast<void>(read_results("/")), ResultsError);
}

}  // namespace
}  // namespace straddle::harness
