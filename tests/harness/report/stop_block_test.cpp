#include <doctest/doctest.h>

#include "golden.hpp"
#include "hand_made.hpp"
#include "harness/report/failing_block.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("a hang and a crash: the pictures") {
  BlockOptions options;
  options.cause = 2;
  check_golden("hang.txt", stop_block(hand_made::hang(), hand_made::run(), options));
  check_golden("crash.txt", stop_block(hand_made::crash(), hand_made::run(), options));
}

TEST_CASE("without times two runs that waited differently print the same") {
  BlockOptions no_times;
  no_times.times = false;
  CaseRecord other = hand_made::hang();
  for (std::string& where : other.where) where.replace(where.find("posted ") + 7, 3, "77.");
  RunInfo again = hand_made::run();
  again.run_id = "77b0d2";
  again.folder = "runs/77b0d2";
  CHECK(stop_block(hand_made::hang(), hand_made::run(), no_times) == stop_block(other, again, no_times));
  CHECK(stop_block(hand_made::hang(), hand_made::run(), {}) != stop_block(other, again, {}));
}

TEST_CASE("4096 ranks at two places are two lines") {
  CaseRecord record = hand_made::hang();
  const std::string most = record.where[0];
  const std::string odd = record.where[3];
  record.where.assign(4096, most);
  record.where[4000] = odd;
  const std::string text = stop_block(record, hand_made::run(), {});
  CHECK(lines_of(text).size() <= 10);
  CHECK(text.find("  0-3999 4001-4095  ") != std::string::npos);
  for (std::size_t rank = 0; rank < 4096; ++rank) record.where[rank].insert(1, std::to_string(rank));
  const std::string folded = stop_block(record, hand_made::run(), {});
  CHECK(lines_of(folded).size() <= 16);
  CHECK(folded.find("  .. and 4088 places of more ranks\n") != std::string::npos);
}

TEST_CASE("a case of which nothing is known says that") {
  CaseRecord record;
  record.entry = hand_made::entry("W2/5,3+0/H4:2/D64/fp32/a2a/cpu/s7", "");
  record.verdict = Verdict::lost;
  CHECK(stop_block(record, hand_made::run(), {}) ==
        "LOST      W2/5,3+0/H4:2/D64/fp32/a2a/cpu/s7\n"
        "  cause   nothing is known of it\n"
        "  repro: mpirun -np 2 straddle run --case W2/5,3+0/H4:2/D64/fp32/a2a/cpu/s7\n");
}

}  // namespace
}  // namespace straddle::harness
