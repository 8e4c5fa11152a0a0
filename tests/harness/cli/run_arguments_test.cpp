#include "harness/cli/run_arguments.hpp"

#include <doctest/doctest.h>

namespace straddle::harness {
namespace {

TEST_CASE("bisect_code: good, bad, and can't be judged") {
  CHECK(bisect_code(0) == 0);
  for (const int bad : {1, 3, 4}) CHECK(bisect_code(bad) == 1);
  for (const int unknown : {2, 5, 6, 77}) CHECK(bisect_code(unknown) == 125);
}

}  // namespace
}  // namespace straddle::harness
