#include "harness/judge/row_reader.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "tensor/tensor.hpp"

namespace straddle::harness {
namespace {

using tensor::DType;
using tensor::Tensor;

TEST_CASE("RowReader: the rows of every floating dtype, exactly") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16}) {
    Tensor wide(DType::fp64, tensor::token_major(3, 2, 4)), stored(dtype, wide.shape());
    for (std::size_t i = 0; i < 24; ++i) wide.view().span<double>()[i] = static_cast<double>(i) - 11.5;
    tensor::convert(wide.view(), stored.view());
    RowReader rows(stored.view());
    CHECK(rows.heads() == 2);
    CHECK(rows.dim() == 4);
    for (std::int64_t token = 0; token < 3; ++token) {
      for (std::int64_t head = 0; head < 2; ++head) {
        for (std::int64_t d = 0; d < 4; ++d) {
          CHECK(rows.row(token, head)[d] == static_cast<double>((token * 2 + head) * 4 + d) - 11.5);
        }
      }
    }
  }
}

TEST_CASE("RowReader: a tensor without dims has rows of one, and integers are refused") {
  Tensor lse(DType::fp32, tensor::token_major(2, 3));
  lse.view().span<float>()[4] = 2.5F;
  CHECK(RowReader(lse.view()).row(1, 1)[0] == 2.5);
  const Tensor integers(DType::i32, tensor::token_major(2, 3));
  CHECK_THROWS_AS(RowReader(integers.view()), std::invalid_argument);
}

}  // namespace
}  // namespace straddle::harness
