#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "harness/inputs/inputs.hpp"
#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

using tensor::DType;

Case small_case(DType dtype) {
  Case point;
  point.pack = pack::from_lengths(std::vector<std::int64_t>{5, 3});
  point.heads = 2;
  point.kv_heads = 1;
  point.head_dim = point.v_head_dim = 4;
  point.dtype = dtype;
  return point;
}

std::vector<double> rows_of(const Case& point, const Inputs& inputs, std::int64_t begin, std::int64_t rows) {
  tensor::Tensor wide(DType::fp64, input_shape(point, InputName::q, rows));
  inputs.fill(InputName::q, 0, begin, wide.view());
  const auto all = std::as_const(wide).view().span<double>();
  return {all.begin(), all.end()};
}

TEST_CASE("change_token changes every value of its token and nothing else, alike in storage and widened") {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
    const Case point = small_case(dtype);
    const auto inputs = make_inputs(point);
    const auto changed = change_token(*inputs, dtype, 4);
    CHECK(rows_of(point, *changed, 0, 4) == rows_of(point, *inputs, 0, 4));
    CHECK(rows_of(point, *changed, 5, 3) == rows_of(point, *inputs, 5, 3));
    const auto before = rows_of(point, *inputs, 4, 1);
    const auto after = rows_of(point, *changed, 4, 1);
    for (std::size_t i = 0; i < before.size(); ++i) CHECK(before[i] != after[i]);

    tensor::Tensor stored(dtype, input_shape(point, InputName::q, 1));
    changed->fill(InputName::q, 0, 4, stored.view());
    tensor::Tensor widened(DType::fp64, stored.shape());
    tensor::convert(stored.view(), widened.view());
    const auto expected = std::as_const(widened).view().span<double>();
    CHECK(std::equal(after.begin(), after.end(), expected.begin(), expected.end()));
  }
}

TEST_CASE("poison_rows makes its rows NaN and nothing else, wherever the rows asked for begin") {
  const Case point = small_case(DType::fp32);
  const auto inputs = make_inputs(point);
  const auto poisoned = poison_rows(*inputs, 2, 5);
  for (std::int64_t begin = 0; begin < 8; ++begin) {
    for (std::int64_t token = begin; token < 8; ++token) {
      const auto all = rows_of(point, *poisoned, begin, 8 - begin);
      const auto clean = rows_of(point, *inputs, begin, 8 - begin);
      for (std::int64_t i = (token - begin) * 8; i < (token - begin + 1) * 8; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (token >= 2 && token < 5) {
          REQUIRE(std::isnan(all[at]));
        } else {
          REQUIRE(all[at] == clean[at]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace straddle::harness
