#include "cp/rows.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "support/values.hpp"
#include "tensor/tensor.hpp"

namespace straddle::cp {
namespace {

using tensor::DType;
using tensor::Tensor;
using tensor::token_major;
using namespace testing;

// k [3 tokens, 1 head, 2], v [3 tokens, 1 head, 1]: k of token t is (10 t + 1, 10 t + 2), v is 10 t + 3.
Tensor k_of_three(double scale = 1) {
  Tensor k(DType::fp64, token_major(3, 1, 2));
  assign({1 * scale, 2 * scale, 11 * scale, 12 * scale, 21 * scale, 22 * scale}, k.view());
  return k;
}
Tensor v_of_three(double scale = 1) {
  Tensor v(DType::fp64, token_major(3, 1, 1));
  assign({3 * scale, 13 * scale, 23 * scale}, v.view());
  return v;
}

std::vector<double> doubles(const Bytes& bytes) {
  return values_of({bytes.data(), DType::fp64, token_major(static_cast<std::int64_t>(bytes.size() / 8), 1)});
}

TEST_CASE("a packed row is the row of K followed by the row of V") {
  const Tensor k = k_of_three(), v = v_of_three();
  const ConstRows rows{k.view(), v.view()};
  CHECK(row_bytes(rows) == 24);
  Bytes packed(48);
  pack_rows(rows, 1, 2, packed);
  CHECK(doubles(packed) == std::vector<double>{11, 12, 13, 21, 22, 23});
}

TEST_CASE("rows are unpacked, added, copied and zeroed in their own places only") {
  Tensor k = k_of_three(), v = v_of_three();
  const Rows to{k.view(), v.view()};
  Bytes packed(24);
  const Tensor more_k = k_of_three(100), more_v = v_of_three(100);
  const ConstRows more{more_k.view(), more_v.view()};
  pack_rows(more, 0, 1, packed);
  add_packed_rows(packed, to, 2, 1);
  CHECK(values_of(k.view()) == std::vector<double>{1, 2, 11, 12, 121, 222});
  CHECK(values_of(v.view()) == std::vector<double>{3, 13, 323});
  unpack_rows(packed, to, 1, 1);
  CHECK(values_of(k.view()) == std::vector<double>{1, 2, 100, 200, 121, 222});
  CHECK(values_of(v.view()) == std::vector<double>{3, 300, 323});
  add_rows(more, 1, to, 0, 1);
  CHECK(values_of(k.view()) == std::vector<double>{1101, 1202, 100, 200, 121, 222});
  CHECK(values_of(v.view()) == std::vector<double>{1303, 300, 323});
  copy_rows(more, 2, to, 0, 1);
  CHECK(values_of(k.view()) == std::vector<double>{2100, 2200, 100, 200, 121, 222});
  CHECK(values_of(v.view()) == std::vector<double>{2300, 300, 323});
  zero_rows(to);
  CHECK(values_of(k.view()) == std::vector<double>(6, 0.0));
  CHECK(values_of(v.view()) == std::vector<double>(3, 0.0));
}

TEST_CASE("buffers of another size and partial sums in 16 bits are refused") {
  const Tensor k = k_of_three(), v = v_of_three();
  Bytes packed(47);
  CHECK_THROWS_WITH_AS(pack_rows({k.view(), v.view()}, 1, 2, packed),
                       "2 packed rows of K and V are 47 bytes, expected 48 (24 a row)",
                       std::invalid_argument);
  Tensor narrow_k(DType::bf16, token_major(3, 1, 2)), narrow_v(DType::bf16, token_major(3, 1, 1));
  const Rows narrow{narrow_k.view(), narrow_v.view()};
  CHECK_THROWS_WITH_AS(add_rows({narrow.k, narrow.v}, 0, narrow, 0, 1),
                       "partial sums are bf16, expected fp32 or fp64", std::invalid_argument);
}

}  // namespace
}  // namespace straddle::cp
