#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tensor/tensor.hpp"

namespace straddle::tensor {
namespace {

// A NaN with the leading mantissa bit set: exponent and that bit are all ones.
bool is_quiet_nan(double value) {
  return (std::bit_cast<std::uint64_t>(value) & 0x7ff8000000000000) == 0x7ff8000000000000;
}
bool is_quiet_nan(float value) { return (std::bit_cast<std::uint32_t>(value) & 0x7fc00000) == 0x7fc00000; }
bool is_quiet_nan(Bf16 value) { return (value.bits & 0x7fc0) == 0x7fc0; }
bool is_quiet_nan(Fp16 value) { return (value.bits & 0x7e00) == 0x7e00; }

TEST_CASE_TEMPLATE("floating-point elements become quiet NaN", T, double, float, Bf16, Fp16) {
  std::vector<T> values(37);
  poison({reinterpret_cast<std::byte*>(values.data()), DTypeOf<T>::value, {{Axis::token, 37}}});
  for (const T value : values) CHECK(is_quiet_nan(value));
}

TEST_CASE_TEMPLATE("integers become the lowest value", T, std::int64_t, std::int32_t) {
  std::vector<T> values(37);
  poison({reinterpret_cast<std::byte*>(values.data()), DTypeOf<T>::value, {{Axis::token, 37}}});
  for (const T value : values) CHECK(value == std::numeric_limits<T>::lowest());
}

TEST_CASE("only the elements of a strided view are touched") {
  std::vector<float> values(5 * 3 * 4, 1.0F);  // [token 5, head 3, dim 4]
  const View whole(reinterpret_cast<std::byte*>(values.data()), DType::fp32, token_major(5, 3, 4));
  poison(whole.slice(Axis::token, 1, 3).slice(Axis::head, 1, 1).slice(Axis::dim, 2, 2));
  for (int i = 0; i < 60; ++i) {
    const int t = i / 12;
    const int h = i / 4 % 3;
    const int d = i % 4;
    CAPTURE(i);
    CHECK(std::isnan(values[static_cast<std::size_t>(i)]) == (t >= 1 && t < 4 && h == 1 && d >= 2));
  }
}

TEST_CASE("bytes aligned to nothing are poisoned too, and none beside them") {
  std::vector<std::byte> bytes(1 + 3 * sizeof(double) + 1, std::byte{0});
  poison({bytes.data() + 1, DType::fp64, {{Axis::token, 3}}});
  for (std::size_t i = 0; i < 3; ++i) {
    double value = 0;
    std::memcpy(&value, bytes.data() + 1 + i * sizeof value, sizeof value);
    CHECK(is_quiet_nan(value));
  }
  CHECK(bytes.front() == std::byte{0});
  CHECK(bytes.back() == std::byte{0});
}

TEST_CASE("nothing to poison is no error") {
  poison(View());
  poison({nullptr, DType::bf16, token_major(0, 4)});
}

}  // namespace
}  // namespace straddle::tensor
