#include "harness/scenario/drawn_lengths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "harness/scenario/draw.hpp"

namespace straddle::harness {
namespace {

using Lengths = std::vector<std::int64_t>;

TEST_CASE("drawn lengths fill the slots exactly, whatever is asked for") {
  for (const std::int64_t slots : {1, 2, 17, 500}) {
    for (const std::int64_t most : {1, 5, 500}) {
      for (const double zero : {0.0, 0.5}) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
          const Lengths lengths = draw_lengths({slots, most, zero, 0.3, seed});
          CHECK(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) == slots);
          CHECK(*std::max_element(lengths.begin(), lengths.end()) <= most);
          CHECK(lengths == draw_lengths({slots, most, zero, 0.3, seed}));
          if (zero == 0) CHECK(std::count(lengths.begin(), lengths.end(), 0) == 0);
        }
      }
    }
  }
}

TEST_CASE("the shares of 0- and 1-token documents are those asked for") {
  const Lengths lengths = draw_lengths({4000, 2, 0.3, 0.4, 5});
  const auto share = [&](std::int64_t length) {
    return static_cast<double>(std::count(lengths.begin(), lengths.end(), length)) /
           static_cast<double>(lengths.size());
  };
  CHECK(share(0) == doctest::Approx(0.3).epsilon(0.1));
  CHECK(share(1) > 0.4);
}

TEST_CASE("lengths of a list: a permutation of it, cut where the row is full, over and over") {
  const Lengths list = {5, 3, 9, 1, 0, 20};
  const Lengths once = draw_from(list, 18, 10, 3);  // 5 + 3 + 9 + 1
  Lengths sorted = once;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == Lengths{1, 3, 5, 9});
  const Lengths twice = draw_from(list, 40, 10, 3);
  CHECK(std::accumulate(twice.begin(), twice.end(), std::int64_t{0}) == 40);
  CHECK(std::equal(once.begin(), once.end(), twice.begin()));
  CHECK(std::equal(once.begin(), once.end(), twice.begin() + 4));
  CHECK(draw_from({7}, 5, 10, 3) == Lengths{5});
  int orders = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) orders += draw_from(list, 18, 10, seed) != once;
  CHECK(orders > 5);
}

TEST_CASE("a draw stays in its range, reaches both ends and has no bias to see") {
  Draw draw(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts[static_cast<std::size_t>(draw.between(-3, 3) + 3)];
  for (const int count : counts) CHECK(count == doctest::Approx(10000).epsilon(0.04));
  std::array<int, 12> widths{};
  for (int i = 0; i < 12000; ++i) {
    const std::int64_t value = draw.log_between(1, 2048);
    REQUIRE(value >= 1);
    REQUIRE(value <= 2048);
    ++widths[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(value)) - 1)];
  }
  for (const int count : widths) CHECK(count == doctest::Approx(1000).epsilon(0.15));
  CHECK(Draw(1, 2).bits() != Draw(1, 3).bits());
  CHECK(Draw(1, 2).bits() != Draw(2, 2).bits());
}

}  // namespace
}  // namespace straddle::harness
