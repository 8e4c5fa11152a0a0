#include "harness/report/record.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace straddle::harness {
namespace {

TEST_CASE("verdicts have the names and exit codes of the manual") {
  CHECK(name(Verdict::pass) == "pass");
  CHECK(name(Verdict::mismatch) == "mismatch");
  CHECK(name(Verdict::hang) == "hang");
  CHECK(name(Verdict::crash) == "crash");
  CHECK(name(Verdict::vacuous) == "vacuous");
  CHECK(name(Verdict::skipped) == "skipped");
  CHECK(name(Verdict::lost) == "lost");
  CHECK(name(Verdict::not_applicable) == "not applicable");
  CHECK(exit_code(Verdict::pass) == 0);
  CHECK(exit_code(Verdict::mismatch) == 1);
  CHECK(exit_code(Verdict::hang) == 3);
  CHECK(exit_code(Verdict::crash) == 4);
  CHECK(exit_code(Verdict::lost) == 4);
  CHECK(exit_code(Verdict::vacuous) == 5);
  CHECK(exit_code(Verdict::skipped) == 77);
  CHECK(exit_code(Verdict::not_applicable) == 77);
}

TEST_CASE("bad is what failed or proved nothing, not what was left out") {
  for (const Verdict verdict :
       {Verdict::mismatch, Verdict::hang, Verdict::crash, Verdict::vacuous, Verdict::lost})
    CHECK(is_bad(verdict));
  for (const Verdict verdict : {Verdict::pass, Verdict::skipped, Verdict::not_applicable})
    CHECK(!is_bad(verdict));
}

TEST_CASE("the gravest code of any two is the one that stands first in 6, 4, 3, 1, 5, 77, 0") {
  const std::vector<int> order = {6, 4, 3, 1, 5, 77, 0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < order.size(); ++j) {
      CHECK(gravest(order[i], order[j]) == order[std::min(i, j)]);
    }
  }
}

TEST_CASE("an exit code has a word, and only 0 is called a pass") {
  CHECK(exit_word(0) == "pass");
  for (const int code : {1, 2, 3, 4, 5, 6, 77}) CHECK(exit_word(code) != "pass");
  CHECK(exit_word(3) == "hang");
}

}  // namespace
}  // namespace straddle::harness
