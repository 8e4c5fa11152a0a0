#include "harness/report/junit.hpp"

#include <doctest/doctest.h>

#include "golden.hpp"
#include "hand_made.hpp"
#include "harness/report/output_file.hpp"
#include "scratch.hpp"
#include "xml_check.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("a run as JUnit XML, valid after every case") {
  const Scratch folder;
  const std::string path = (folder.path() / "junit.xml").string();
  auto records = hand_made::small_run();
  records.push_back(hand_made::hang());
  records.push_back(hand_made::crash());
  const auto reporter = junit_reporter(path);
  reporter->begin(hand_made::run());
  CHECK(XmlCheck(content_of(path)).all("testcase").empty());
  std::size_t cases = 0;
  for (const CaseRecord& record : records) {
    reporter->before_case(record.entry, 0);
    reporter->after_case(record);
    ++cases;
    const std::string text = content_of(path);  // XmlCheck looks into it
    const XmlCheck xml(text);
    CHECK(xml.all("testcase").size() == cases);
    CHECK(xml.all("testsuite")[0].attribute("tests") == std::to_string(cases));
  }
  reporter->end(hand_made::totals(records));
  check_golden("junit.xml", content_of(path));

  const std::string text = content_of(path);
  const XmlCheck xml(text);
  CHECK(xml.all("testsuite")[0].attribute("failures") == "3");
  CHECK(xml.all("testsuite")[0].attribute("errors") == "2");
  CHECK(xml.all("testsuite")[0].attribute("skipped") == "2");
  CHECK(xml.all("failure").size() == 3);
  CHECK(xml.all("error").size() == 2);
  CHECK(xml.all("skipped").size() == 2);
  const auto lines = lines_of(xml.all("failure")[1].text);
  CHECK(lines[0] == "mismatch");
  CHECK(lines[1] == "d_k, d_v of document 1 are wrong on ranks 0 1. Backward only: out, lse, d_q pass.");
  CHECK(lines[2] == "repro: mpirun -np 4 straddle run --case W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7");
}

TEST_CASE("hostile texts stay within their element, and 4 KB") {
  const Scratch folder;
  const std::string path = (folder.path() / "junit.xml").string();
  CaseRecord record = hand_made::crash();
  record.entry.file = "a \"b\" & <c>.toml";
  record.reasons = {std::string(9000, '&'), "</error>]]>\x01\xff\nsecond"};
  const auto reporter = junit_reporter(path);
  reporter->begin(hand_made::run());
  reporter->after_case(record);
  const std::string text = content_of(path);
  const XmlCheck xml(text);
  REQUIRE(xml.all("error").size() == 1);
  CHECK(xml.all("error")[0].text.size() <= 4096);
  CHECK(xml.all("error")[0].text.ends_with(".. the rest is in results.jsonl"));
  CHECK(xml.all("error")[0].attribute("message").size() <= 4096);
  CHECK(xml.all("testcase")[0].attribute("classname") == record.entry.file);
  record.reasons = {"</error>]]>\x01\xff\nsecond"};
  reporter->after_case(record);
  const std::string more = content_of(path);
  CHECK(lines_of(XmlCheck(more).all("error")[1].text)[1] == "</error>]]>\\x01\\xff second");
}

TEST_CASE("a place that can't be written is an error before anything runs") {
  CHECK_THROWS_AS(static_cast<void>(junit_reporter("/no such folder/junit.xml")), OutputError);
}

}  // namespace
}  // namespace straddle::harness
