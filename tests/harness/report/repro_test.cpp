#include "harness/report/repro.hpp"

#include <doctest/doctest.h>

#include "hand_made.hpp"

namespace straddle::harness {
namespace {

const std::string kText = "W2/5,3+0/H4:2/D64/fp32/a2a/cpu/s7";

RunInfo threads() {
  RunInfo info = hand_made::run();
  info.under_mpi = false;
  info.transport = "threads";
  return info;
}

TEST_CASE("a case runs again with the ranks it needs, the way it was launched") {
  const CaseEntry entry = hand_made::entry(kText);
  CHECK(repro(hand_made::run(), entry) == "mpirun -np 2 straddle run --case " + kText);
  CHECK(repro(threads(), entry) == "straddle run --transport threads --ranks 2 --case " + kText);
}

TEST_CASE("a text with a hash, and a vacuous case, need their scenario file") {
  CaseEntry long_pack = hand_made::entry(kText);
  long_pack.text = "W2/p0123456789abcdef/H4:2/D64/fp32/a2a/cpu/s7";
  REQUIRE(names_a_file(long_pack.text));
  CHECK(repro(hand_made::run(), long_pack) ==
        "mpirun -np 2 straddle run scenarios/three_ranks.toml --case " + long_pack.text);
  CaseRecord record = hand_made::pass(hand_made::entry(kText));
  CHECK(repro(hand_made::run(), record) == "mpirun -np 2 straddle run --case " + kText);
  record.verdict = Verdict::vacuous;
  CHECK(repro(hand_made::run(), record) ==
        "mpirun -np 2 straddle run scenarios/three_ranks.toml --case " + kText);
  record.entry.file.clear();
  CHECK(repro(hand_made::run(), record) == "mpirun -np 2 straddle run --case " + kText);
}

TEST_CASE("a deadline of one's own comes along, and names that a shell would split are quoted") {
  RunInfo info = hand_made::run();
  info.timeout_s = 2.5;
  CaseRecord record = hand_made::vacuous();
  record.entry.file = "my scenarios/it's.toml";
  CHECK(repro(info, record) ==
        "mpirun -np 2 straddle run --timeout 2.5 'my scenarios/it'\\''s.toml' --case " + record.entry.text);
  CHECK(rerun_failed(hand_made::run(), "runs/5e1c09") == "mpirun -np 4 straddle run --failed runs/5e1c09");
  CHECK(rerun_failed(threads(), "runs/a b") ==
        "straddle run --transport threads --ranks 4 --failed 'runs/a b'");
}

}  // namespace
}  // namespace straddle::harness
