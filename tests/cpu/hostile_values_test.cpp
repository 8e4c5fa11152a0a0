// Inputs on which a bound relative to the result alone fails on correct code.
#include <doctest/doctest.h>

#include <cmath>

#include "cpu/kernels.hpp"
#include "support/definition.hpp"

namespace straddle::cpu::test {
namespace {

using tensor::Axis;
using tensor::DType;

constexpr Sizes kSizes{2, 1, 8, 8};

void check(const Problem& problem) {
  const Expected expected = define(problem);
  for (const auto& kernel : {blockwise_kernel(), dense_kernel()}) {
    const Worst worst = worst_of(problem, expected, run(*kernel, problem));
    INFO(kernel->name(), " ", tensor::name(problem.dtype), ": ", worst.where);
    CHECK(worst.used <= 1);
  }
}

// Both lengths span one tile of keys and more.
void check_lengths(const Spread& spread) {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16}) {
    for (const std::int32_t length : {3, 300}) {
      CAPTURE(length);
      check(random_problem(kSizes, {0, length}, {0, length}, {.dtype = dtype, .spread = spread}));
    }
  }
}

TEST_CASE("logits of standard deviation 64") { check_lengths({.q = 8, .k = 8}); }
TEST_CASE("keys with a common part of 1000") { check_lengths({.k_common = 1000}); }
TEST_CASE("values of mean 30") { check_lengths({.v_mean = 30}); }
TEST_CASE("gradients of mean 30") { check_lengths({.d_out_mean = 30}); }
TEST_CASE("keys that are all zero") { check_lengths({.k = 0}); }
TEST_CASE("keys that are identical") { check_lengths({.k = 0, .k_common = 3}); }
TEST_CASE("values that are identical") { check_lengths({.v = 0, .v_mean = 0.1}); }

TEST_CASE("gradients of 1e-30 and inputs of 1e-20") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16}) {
    check(random_problem(kSizes, {0, 300}, {0, 300}, {.dtype = dtype, .spread = {.d_out = 1e-30}}));
    check(random_problem(kSizes, {0, 50}, {0, 50},
                         {.dtype = dtype, .spread = {.q = 1e-20, .k = 1e-20, .v = 1e-20, .d_out = 1e-20}}));
  }
}

// q = 1 on the first component, k there such that the logits of every row climb or fall along the keys.
Problem ramp(DType dtype, std::int32_t length, double from, double to) {
  Problem problem = random_problem(kSizes, {0, length}, {0, length}, {.dtype = dtype});
  auto q = values_of(problem.q), k = values_of(problem.k);
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = i % 8 == 0 ? std::sqrt(8.0) : 0;
  for (std::size_t i = 0; i < k.size(); i += 8) {
    k[i] = from + (to - from) * static_cast<double>(i / 8) / (length - 1);
  }
  problem.q = tensor_of(dtype, problem.q.shape(), q);
  problem.k = tensor_of(dtype, problem.k.shape(), k);
  return problem;
}

TEST_CASE("logits on a ramp, up and down, from -60 to 60") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16}) {
    check(ramp(dtype, 300, -60, 60));  // every key is the largest so far: the maximum moves in every tile
    check(ramp(dtype, 300, 60, -60));
    check(ramp(dtype, 300, -400, 400));  // P underflows
  }
}

TEST_CASE("keys of zero count the keys: LSE = ln t, out = the mean of the first t values") {
  const std::int32_t length = 1000;
  const Problem problem = random_problem({1, 1, 4, 1}, {0, length}, {0, length}, {.spread = {.k = 0}});
  const auto kernel = blockwise_kernel();
  const Outcome outcome = run(*kernel, problem);
  const auto lse = values_of(outcome.lse), out = values_of(outcome.out), v = values_of(problem.v);
  double sum = 0, size = 0;
  for (std::size_t t = 0; t < lse.size(); ++t) {
    sum += v[t];
    size += std::fabs(v[t]);
    const auto count = static_cast<double>(t + 1);
    REQUIRE(std::fabs(lse[t] - std::log(count)) <= 1e-6);  // one key of 1000 is 1e-3
    REQUIRE(std::fabs(out[t] - sum / count) <= 1e-6 * size / count);
  }
}

}  // namespace
}  // namespace straddle::cpu::test
