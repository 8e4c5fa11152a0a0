#include "harness/report/summary.hpp"

#include <doctest/doctest.h>

#include "golden.hpp"
#include "hand_made.hpp"

namespace straddle::harness {
namespace {

std::string summary_of(const std::vector<CaseRecord>& records, std::int64_t blocks = 3,
                       const SummaryOptions& options = {}) {
  Tally tally(blocks);
  for (const CaseRecord& record : records) static_cast<void>(tally.add(record));
  return summary(hand_made::run(), hand_made::totals(records), tally, options);
}

TEST_CASE("equal causes are one: shown up to a number of blocks, the others counted") {
  Causes causes(3);
  for (int i = 0; i < 37; ++i) {
    const auto counted = causes.add(hand_made::mismatch());
    CHECK(counted.number == 1);
    CHECK(counted.show_block == (i < 3));
  }
  CaseRecord all_gather = hand_made::mismatch();
  all_gather.facts.path.taken = pack::ExchangeKind::allgather;
  const auto other = causes.add(all_gather);
  CHECK(other.number == 2);
  CHECK(other.show_block);
  const auto by_cases = causes.by_cases();
  REQUIRE(by_cases.size() == 2);
  CHECK(by_cases[0].cases == 37);
  CHECK(by_cases[0].shown == 3);
  CHECK(by_cases[1].cases == 1);
}

TEST_CASE("causes stand by their number of cases, of equals by first appearance") {
  Causes causes(0);
  static_cast<void>(causes.add(hand_made::vacuous()));
  static_cast<void>(causes.add(hand_made::crash()));
  static_cast<void>(causes.add(hand_made::hang()));
  static_cast<void>(causes.add(hand_made::hang()));
  const auto by_cases = causes.by_cases();
  REQUIRE(by_cases.size() == 3);
  CHECK(by_cases[0].verdict == Verdict::hang);
  CHECK(by_cases[1].verdict == Verdict::vacuous);
  CHECK(by_cases[2].verdict == Verdict::crash);
}

TEST_CASE("numbers in a sentence don't make another cause, verdict and words do") {
  Causes causes(3);
  CaseRecord first = hand_made::hang(), second = hand_made::hang(), third = hand_made::hang();
  first.reasons = {"waits for rank 3 for 10.0 s, b = 0 0 4"};
  second.reasons = {"waits for rank 12 for 9.5 s, b = 0 2"};
  third.reasons = {"waits for ranks 3 for 10.0 s, b = 0 0 4"};
  CHECK(causes.add(first).number == 1);
  CHECK(causes.add(second).number == 1);
  CHECK(causes.add(third).number == 2);
  second.verdict = Verdict::crash;
  CHECK(causes.add(second).number == 3);
}

TEST_CASE("the last three lines are the results file, the rerun and the exit code") {
  for (const auto& records :
       {hand_made::small_run(), std::vector{hand_made::hang()}, std::vector<CaseRecord>{}}) {
    const auto lines = lines_of(summary_of(records));
    REQUIRE(lines.size() >= 4);
    CHECK(lines[lines.size() - 3] == "results  runs/5e1c09/results.jsonl");
    CHECK(lines[lines.size() - 2].starts_with("again    "));
    CHECK(lines[lines.size() - 1].starts_with("exit "));
  }
  CHECK(holds(summary_of(hand_made::small_run()),
              "again    mpirun -np 4 straddle run --failed runs/5e1c09\nexit 1 (mismatch)\n"));
  CHECK(holds(summary_of({hand_made::pass(hand_made::mismatch().entry)}),
              "again    nothing: no case failed\nexit 0 (pass)\n"));
}

TEST_CASE("what was not checked is named, counted and not called a pass") {
  const std::string text = summary_of(hand_made::small_run());
  CHECK(holds(
      text, "9 cases in 21.4 s: 4 pass, 2 mismatch, 0 hang, 0 crash, 0 lost, 1 vacuous, 1 skipped, 1 n/a\n"));
  CHECK(holds(text, "   1 skipped     needs 8 ranks, 4 started\n"));
  CHECK(holds(text, "   1 n/a         dense needs all keys: allgather only\n"));
  CHECK(holds(text, "   1 other path  halo -> a2a (halo_short)\n"));
  CHECK(!holds(text, "unchecked"));
  CaseRecord unchecked = hand_made::pass(hand_made::mismatch().entry);
  unchecked.judgement.bits.compared = false;
  CHECK(holds(summary_of({unchecked}), "   1 unchecked   bits were not compared with those of W = 1\n"));
  CHECK(holds(summary_of({hand_made::skipped()}), "no case was judged: nothing is known to be right\n"));
  CHECK(holds(summary_of({}), "no case was judged"));
  CHECK(!holds(text, "no case was judged"));
  SummaryOptions not_here;
  not_here.not_here = true;
  CHECK(holds(summary_of(hand_made::small_run(), 3, not_here), "not here: cuda (not built), W > 4"));
}

TEST_CASE("a cause names what its cases have, and how many of its blocks are missing") {
  std::vector<CaseRecord> records(37, hand_made::mismatch());
  records[5].entry.point.ranks = 3;
  records[6].entry.point.dtype = tensor::DType::bf16;
  CHECK(holds(summary_of(records),
              "  37 mismatch    cause 1: d_k, d_v wrong in documents on several ranks (a2a); W 3 "
              "4, cpu,\n                 fp32 bf16; 3 shown, 34 not\n"));
  CHECK(holds(summary_of(records, 0), "first " + records[0].entry.text));
}

TEST_CASE("many causes fold after eight") {
  std::vector<CaseRecord> records;
  for (char word = 'a'; word < 'a' + 12; ++word) {
    records.push_back(hand_made::crash());
    records.back().reasons = {std::string("rank 1 failed: ") + word};
  }
  records.push_back(records.back());
  const std::string text = summary_of(records);
  CHECK(holds(text, "   2 crash       cause 12: rank 1 failed: l"));
  CHECK(holds(text, "  .. and 4 causes of 4 cases\n"));
}

}  // namespace
}  // namespace straddle::harness
