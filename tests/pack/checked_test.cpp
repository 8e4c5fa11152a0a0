#include "pack/checked.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "pack/pack.hpp"

namespace straddle::pack {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kTwoTo62 = std::int64_t{1} << 62;

TEST_CASE("checked arithmetic is exact up to the last value of 64 bits and refuses the next") {
  CHECK(checked_add(kTwoTo62, kTwoTo62 - 1, "sum") == kMax);
  CHECK_THROWS_WITH_AS(checked_add(kTwoTo62, kTwoTo62, "sum"),
                       "sum: 4611686018427387904 + 4611686018427387904 does not fit into 64 bits", PackError);
  CHECK(checked_multiply(kTwoTo62 - 1, 2, "product") == kMax - 1);
  CHECK_THROWS_WITH_AS(checked_multiply(kTwoTo62, 2, "product"),
                       "product: 4611686018427387904 * 2 does not fit into 64 bits", PackError);
}

TEST_CASE("checked_triangle is the sum of 1 to n") {
  std::int64_t sum = 0;
  for (std::int64_t n = 0; n <= 100; ++n) {
    sum += n;
    CHECK(checked_triangle(n, "triangle") == sum);
  }
  // n (n + 1) exceeds 2^63 for both, n (n + 1) / 2 for the second alone.
  const std::int64_t largest = 4294967295;
  CHECK(checked_triangle(largest, "triangle") == 9223372034707292160);
  CHECK_THROWS_AS(checked_triangle(largest + 1, "triangle"), PackError);
  CHECK_THROWS_AS(checked_triangle(kMax, "triangle"), PackError);
}

}  // namespace
}  // namespace straddle::pack
