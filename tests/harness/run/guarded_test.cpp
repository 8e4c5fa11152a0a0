#include "harness/run/guarded.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <utility>

namespace straddle::harness {
namespace {

TEST_CASE("Guarded: rows are NaN at first, may be written, and a byte on either side is noticed") {
  for (const std::int64_t rows : {0, 1, 5}) {
    Guarded guarded(tensor::DType::fp32, tensor::token_major(rows, 2, 3));
    CHECK(guarded.intact());
    for (float& x : guarded.rows().span<float>()) {
      CHECK(std::isnan(x));
      x = 1;
    }
    CHECK(guarded.intact());
    float* const first = guarded.rows().as<float>();
    for (const std::int64_t beyond : {std::int64_t{-1}, std::int64_t{-12}, rows * 6, rows * 6 + 11}) {
      const float before = first[beyond];
      CHECK(std::isnan(before));
      first[beyond] = 0;
      CHECK_FALSE(guarded.intact());
      first[beyond] = before;
      CHECK(guarded.intact());
    }
  }
}

}  // namespace
}  // namespace straddle::harness
