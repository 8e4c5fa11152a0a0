#include "harness/inputs/random_inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

using tensor::DType;

Case small_case() {
  Case point;
  point.ranks = 2;
  point.pack = pack::from_lengths(std::vector<std::int64_t>{5, 1, 7}, 16);
  point.heads = 4;
  point.kv_heads = 2;
  point.head_dim = 6;
  point.v_head_dim = 3;
  return point;
}

std::vector<double> values(const Case& point, InputName input, std::int64_t begin, std::int64_t rows,
                           std::int64_t layer = 0) {
  tensor::Tensor wide(DType::fp64, input_shape(point, input, rows));
  make_inputs(point)->fill(input, layer, begin, wide.view());
  const auto all = std::as_const(wide).view().span<double>();
  return {all.begin(), all.end()};
}

constexpr InputName kAll[] = {InputName::q, InputName::k, InputName::v, InputName::d_out, InputName::d_lse};

TEST_CASE("inputs: a row has the same values whichever rows it is asked for with") {
  const Case point = small_case();
  for (const InputName input : kAll) {
    CAPTURE(name(input));
    const auto all = values(point, input, 0, 16);
    const std::size_t row = all.size() / 16;
    for (std::int64_t begin = 0; begin < 16; ++begin) {
      for (std::int64_t rows = 1; begin + rows <= 16; ++rows) {
        const auto some = values(point, input, begin, rows);
        REQUIRE(std::equal(some.begin(), some.end(), all.begin() + begin * static_cast<std::int64_t>(row)));
      }
    }
  }
}

TEST_CASE("inputs: tensors, layers, tokens, heads and seeds all have other values") {
  const Case point = small_case();
  const auto q = values(point, InputName::q, 0, 16);
  CHECK(values(point, InputName::d_out, 0, 16) != q);
  CHECK(values(point, InputName::q, 0, 16, 1) != q);
  Case other = point;
  other.inputs.seed = 8;
  CHECK(values(other, InputName::q, 0, 16) != q);
  std::vector<double> sorted = q;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
}

TEST_CASE("inputs: fp64 rows of a 16-bit case hold the stored values, widened exactly") {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
    Case point = small_case();
    point.dtype = dtype;
    const auto inputs = make_inputs(point);
    tensor::Tensor stored(dtype, input_shape(point, InputName::k, 16));
    inputs->fill(InputName::k, 0, 0, stored.view());
    tensor::Tensor widened(DType::fp64, stored.shape());
    tensor::convert(stored.view(), widened.view());
    const auto expected = std::as_const(widened).view().span<double>();
    const auto got = values(point, InputName::k, 0, 16);
    CHECK(std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
  }
}

TEST_CASE(
    "inputs: normal values have mean 0, variance 1 and the normal's fourth moment; amplitude scales q and k "
    "alone") {
  Case point;
  point.pack = pack::from_lengths(std::vector<std::int64_t>{2000});
  point.head_dim = 16;
  point.heads = 2;
  point.inputs.amplitude = 5;
  for (const auto& [input, scale] :
       {std::pair{InputName::q, 5.0}, {InputName::k, 5.0}, {InputName::d_out, 1.0}}) {
    const auto all = values(point, input, 0, 2000);
    double first = 0;
    double second = 0;
    double fourth = 0;
    for (const double x : all) {
      first += x / scale;
      second += x * x / (scale * scale);
      fourth += std::pow(x / scale, 4);
    }
    const double n = static_cast<double>(all.size());
    // Six standard errors of each estimate: 1, sqrt 2 and sqrt 96 over sqrt n.
    CHECK(std::fabs(first / n) < 6 / std::sqrt(n));
    CHECK(std::fabs(second / n - 1) < 6 * std::sqrt(2 / n));
    CHECK(std::fabs(fourth / n - 3) < 6 * std::sqrt(96 / n));
  }
}

TEST_CASE("inputs: each kind has the property it is named for") {
  Case point = small_case();
  point.inputs.kind = InputKind::k_zero;
  for (const double k : values(point, InputName::k, 0, 13)) CHECK(k == 0);
  point.inputs.kind = InputKind::v_one;
  for (const double v : values(point, InputName::v, 0, 13)) CHECK(v == 1);

  point.inputs.kind = InputKind::same_keys;
  const auto first = values(point, InputName::k, 0, 1);
  for (std::int64_t token = 1; token < 5; ++token) CHECK(values(point, InputName::k, token, 1) == first);
  CHECK(values(point, InputName::k, 5, 1) != first);

  point.inputs.kind = InputKind::ramp;
  point.inputs.amplitude = 60;
  const auto logit = [&](std::int64_t query, std::int64_t key) {
    const auto q = values(point, InputName::q, query, 1);
    const auto k = values(point, InputName::k, key, 1);
    double sum = 0;
    for (std::size_t d = 0; d < 6; ++d) sum += q[d] * k[d];
    return sum * point.scale();
  };
  CHECK(logit(12, 6) == doctest::Approx(-60));
  CHECK(logit(12, 9) == doctest::Approx(0).epsilon(1e-4));
  CHECK(logit(12, 12) == doctest::Approx(60));
}

TEST_CASE("inputs: padding rows are random, or NaN in every tensor, and real rows don't change") {
  Case point = small_case();
  Case poisoned = point;
  poisoned.inputs.padding_rows = PaddingRows::nan;
  for (const InputName input : kAll) {
    for (const double x : values(point, input, 13, 3)) CHECK((std::isfinite(x) && x != 0));
    for (const double x : values(poisoned, input, 13, 3)) CHECK(std::isnan(x));
    CHECK(values(point, input, 0, 13) == values(poisoned, input, 0, 13));
  }
}

}  // namespace
}  // namespace straddle::harness
