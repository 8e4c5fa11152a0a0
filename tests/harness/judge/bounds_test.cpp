#include "harness/judge/bounds.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace straddle::harness {
namespace {

using tensor::DType;

TEST_CASE("rounding_of: unit roundoffs of the formats, IEEE 754 and bfloat16") {
  CHECK(rounding_of(DType::fp32).u == std::numeric_limits<float>::epsilon() / 2);
  // Twice the unit roundoff: kernel and oracle both round in fp64.
  CHECK(rounding_of(DType::fp64).u == std::numeric_limits<double>::epsilon());
  CHECK(rounding_of(DType::fp32).eta == std::numeric_limits<float>::min());
  CHECK(rounding_of(DType::fp64).eta == std::numeric_limits<double>::min());
  CHECK(rounding_of(DType::bf16).storage == 0.00390625);
  CHECK(rounding_of(DType::fp16).storage == 0.00048828125);
  CHECK(rounding_of(DType::bf16).u == rounding_of(DType::fp32).u);
  CHECK(rounding_of(DType::fp16).eta == 0.5 * 5.9604644775390625e-08);  // half of the smallest fp16
  CHECK_THROWS_WITH(static_cast<void>(rounding_of(DType::i32)),
                    "results are judged in fp64, fp32, bf16 or fp16, not i32");
}

TEST_CASE("error_bounds: the factors of each tensor, worked by hand for A = 8 in bf16") {
  const double u = 0x1p-24, us = 0x1p-8;
  CHECK(growth(0) == 1);
  CHECK(growth(8) == 2);
  const ErrorBounds out = error_bounds("out", rounding_of(DType::bf16), 8);
  CHECK(out.sigma_element == 256 * u + 2 * us);
  CHECK(out.want_row == 128 * u);
  CHECK(out.sigma_row == 8 * u + 2 * us);
  CHECK(out.want_document == 64 * u + us);
  CHECK(out.sigma_document == 2 * u + us / 2);
  const ErrorBounds d_q = error_bounds("d_q", rounding_of(DType::bf16), 8);
  CHECK(d_q.sigma_element == 256 * u + 3 * us);
  CHECK(d_q.want_row == 256 * u);
  CHECK(error_bounds("d_k", rounding_of(DType::bf16), 8).sigma_element == d_q.sigma_element);
  CHECK(error_bounds("d_k", rounding_of(DType::bf16), 8).want_row == out.want_row);
  CHECK(error_bounds("d_v", rounding_of(DType::bf16), 8).sigma_element == out.sigma_element);
  CHECK(lse_bound(rounding_of(DType::bf16), 8) == 256 * u);
}

TEST_CASE("averaging: a document of one row is allowed what its row is, one of many what the sum says") {
  CHECK(averaging(1) == 4);
  CHECK(averaging(9) == 2);
  CHECK(averaging(90000) == doctest::Approx(1.01));
  const ErrorBounds out = error_bounds("out", rounding_of(DType::fp16), 3);
  CHECK(averaging(1) * out.sigma_document == out.sigma_row);
}

TEST_CASE("lse_bound: one key of 32768 more or less is four times what is allowed") {
  const double step = std::log(32768.0) - std::log(32767.0);
  CHECK(lse_bound(rounding_of(DType::fp32), 0) == doctest::Approx(7.6e-6).epsilon(0.01));
  CHECK(step / lse_bound(rounding_of(DType::fp32), 0) > 3.9);
}

TEST_CASE("element_bound: nothing is allowed where sigma is 0") {
  const ErrorBounds bounds = error_bounds("out", rounding_of(DType::fp16), 0);
  CHECK(element_bound(bounds, 0, 5) == 0);
  CHECK(element_bound(bounds, 2, 3) == bounds.sigma_element * 2 + 0x1p-25 * 13);
}

TEST_CASE("used_of_allowed: nothing used of nothing is fine, NaN never is") {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(used_of_allowed(0, 0) == 0);
  CHECK(used_of_allowed(1, 4) == 0.25);
  CHECK(used_of_allowed(1e-300, 0) == inf);
  CHECK(used_of_allowed(nan, 1) == inf);
  CHECK(used_of_allowed(0, nan) == inf);
  CHECK(used_of_allowed(inf, inf) == inf);
}

}  // namespace
}  // namespace straddle::harness
