#include "harness/judge/bit_rows.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

TEST_CASE("BitRows: a NaN equals the same NaN, and rows are counted element by element") {
  Tensor a(DType::fp16, tensor::token_major(3, 2, 2)), b(DType::fp16, tensor::token_major(4, 2, 2));
  for (std::int64_t i = 0; i < 12; ++i) set(a, i, static_cast<double>(i)), set(b, i, static_cast<double>(i));
  set(a, 5, std::numeric_limits<double>::quiet_NaN());
  set(b, 5, std::numeric_limits<double>::quiet_NaN());
  set(b, 6, 7.5);
  set(b, 7, -7.0);
  const BitRows rows(a, b);
  CHECK(rows.row_elements() == 4);
  CHECK_FALSE(rows.first_difference(0).has_value());
  CHECK(rows.first_difference(1) == 2);
  CHECK(rows.differing(1) == 2);
  CHECK(rows.differing(2) == 0);
  CHECK(rows.describe("d_v", 1, 3) == "d_v token 1 head 1 dim 1: 4700 != c700");
}

TEST_CASE("BitRows: other dtypes or extents are refused") {
  const Tensor a(DType::fp16, tensor::token_major(3, 2, 2)), b(DType::bf16, tensor::token_major(3, 2, 2));
  CHECK_THROWS_WITH(BitRows(a, b),
                    "bits of fp16 [token 3, head 2, dim 2] and bf16 [token 3, head 2, dim 2] can't be "
                    "compared: expected equal dtypes, heads and dims");
  const Tensor c(DType::fp16, tensor::token_major(3, 2, 4));
  CHECK_THROWS_AS(BitRows(a, c), std::invalid_argument);
}

}  // namespace
}  // namespace straddle::harness
