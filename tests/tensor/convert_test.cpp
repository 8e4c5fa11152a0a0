#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "sixteen_bit.hpp"
#include "tensor/tensor.hpp"

namespace straddle::tensor {
namespace {

template <class T>
double exact(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else {
    return kSixteenBit<T>.value(value.bits);
  }
}

// The element that a correctly rounded conversion of an exact number gives.
template <class T>
T nearest(double number) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number);
  } else {
    return {kSixteenBit<T>.nearest(number)};
  }
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
ConstView view_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()),
          DTypeOf<T>::value,
          {{Axis::token, static_cast<std::int64_t>(values.size())}}};
}

template <class T>
View view_of(std::vector<T>& values) {
  return {reinterpret_cast<std::byte*>(values.data()),
          DTypeOf<T>::value,
          {{Axis::token, static_cast<std::int64_t>(values.size())}}};
}

// Numbers of both signs over the range of fp16 and beyond, some with few bits, so that ties occur.
template <class T>
std::vector<T> numbers(int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values;
  for (int i = 0; i < count; ++i) {
    const auto significand =
        static_cast<double>(static_cast<std::int64_t>(random()) >> (i % 2 == 0 ? 11 : 51));
    const int exponent = static_cast<int>(random() % 60) - (i % 2 == 0 ? 90 : 50);
    values.push_back(nearest<T>(std::ldexp(significand, exponent)));
  }
  return values;
}

template <class From, class To>
void check_pair() {
  constexpr std::uint64_t kSeed = 11;
  for (const int count : {0, 1, 3, 8, 1000}) {  // vector bodies and their remainders
    const std::vector<From> from = numbers<From>(count, kSeed);
    std::vector<To> to(from.size());
    convert(view_of(from), view_of(to));
    for (std::size_t i = 0; i < from.size(); ++i) {
      const To want = nearest<To>(exact(from[i]));
      if (same_bits(to[i], want)) continue;
      FAIL_CHECK("seed " << kSeed << ", element " << i << ": " << exact(from[i]) << " became " << exact(to[i])
                         << ", nearest is " << exact(want));
    }
  }
}

TEST_CASE_TEMPLATE("each floating-point dtype becomes the nearest of each other", To, double, float, Bf16,
                   Fp16) {
  check_pair<double, To>();
  check_pair<float, To>();
  check_pair<Bf16, To>();
  check_pair<Fp16, To>();
}

TEST_CASE("rows convert every 16-bit pattern as single elements do") {
  std::vector<Bf16> bf16(1 << 16);
  std::vector<Fp16> fp16(1 << 16);
  for (std::size_t i = 0; i < bf16.size(); ++i) bf16[i].bits = fp16[i].bits = static_cast<std::uint16_t>(i);
  std::vector<float> wide(1 << 16);
  std::vector<Bf16> bf16_back(1 << 16);
  std::vector<Fp16> fp16_back(1 << 16);
  convert(view_of(bf16), view_of(wide));
  convert(view_of(wide), view_of(bf16_back));
  for (std::size_t i = 0; i < wide.size(); ++i) {
    REQUIRE(same_bits(wide[i], to_float(bf16[i])));
    REQUIRE(bf16_back[i] == to_bf16(wide[i]));
  }
  convert(view_of(fp16), view_of(wide));
  convert(view_of(wide), view_of(fp16_back));
  for (std::size_t i = 0; i < wide.size(); ++i) {
    REQUIRE(same_bits(wide[i], to_float(fp16[i])));
    REQUIRE(fp16_back[i] == to_fp16(wide[i]));
  }
}

TEST_CASE("fp64 goes to 16 bit in one rounding") {
  const std::vector<double> from = {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40};
  std::vector<Fp16> fp16(2);
  std::vector<Bf16> bf16(2);
  convert(view_of(from), view_of(fp16));
  convert(view_of(from), view_of(bf16));
  CHECK(fp16[0].bits == 0x3c01);
  CHECK(bf16[1].bits == 0x3f81);
}

TEST_CASE("the same dtype keeps its bits, those of a signalling NaN too") {
  const std::vector<float> from = {std::bit_cast<float>(0x7f800001U), -0.0F};
  std::vector<float> to(2);
  convert(view_of(from), view_of(to));
  CHECK(std::memcmp(from.data(), to.data(), 8) == 0);
}

TEST_CASE("strided to strided: each element arrives at its index, and nothing else is written") {
  const Shape shape = token_major(5, 3, 4);
  Tensor from(DType::fp32, shape);
  for (int i = 0; i < 60; ++i) from.view().span<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i);
  std::vector<double> target(60, -1.0);
  // Head-major storage, and in it the heads 1 and 2 of the tokens 2 to 4.
  const View head_major(reinterpret_cast<std::byte*>(target.data()), DType::fp64, shape, {4, 20, 1});
  const auto part = [](const auto& view) { return view.slice(Axis::token, 2, 3).slice(Axis::head, 1, 2); };
  convert(part(std::as_const(from).view()), part(head_major));
  for (int t = 0; t < 5; ++t) {
    for (int h = 0; h < 3; ++h) {
      for (int d = 0; d < 4; ++d) {
        const double want = t >= 2 && h >= 1 ? t * 12 + h * 4 + d : -1;
        CHECK(target[static_cast<std::size_t>(h * 20 + t * 4 + d)] == want);
      }
    }
  }
}

TEST_CASE("elements that lie apart, in the source or in the target, convert one by one") {
  const std::vector<float> from = {1, 2, 3, 4, 5, 6};
  const auto* source = reinterpret_cast<const std::byte*>(from.data());
  const Shape shape = {{Axis::token, 3}, {Axis::dim, 2}};
  const ConstView::Strides dim_major = {1, 3};
  std::vector<Bf16> to(6);
  auto* target = reinterpret_cast<std::byte*>(to.data());
  const auto check_target = [&](const std::vector<float>& want) {
    for (std::size_t i = 0; i < 6; ++i) CHECK(to_float(to[i]) == want[i]);
  };
  convert({source, DType::fp32, shape, dim_major}, {target, DType::bf16, shape});
  check_target({1, 4, 2, 5, 3, 6});
  convert({source, DType::fp32, shape}, {target, DType::bf16, shape, dim_major});
  check_target({1, 3, 5, 2, 4, 6});
}

TEST_CASE("bytes aligned to nothing convert, as a file may hold them") {
  std::vector<std::byte> bytes(1 + 5 * sizeof(float));
  const std::vector<float> values = {1, -2, 3.5F, 0, 65504};
  std::memcpy(bytes.data() + 1, values.data(), 5 * sizeof(float));
  const Shape shape = {{Axis::token, 5}};
  std::vector<double> wide(5);
  convert({bytes.data() + 1, DType::fp32, shape}, view_of(wide));
  CHECK(wide == std::vector<double>(values.begin(), values.end()));
  std::vector<std::byte> narrow(1 + 5 * sizeof(Fp16));
  convert(view_of(values), {narrow.data() + 1, DType::fp16, shape});
  convert({narrow.data() + 1, DType::fp16, shape}, view_of(wide));
  CHECK(wide == std::vector<double>(values.begin(), values.end()));
}

TEST_CASE("integers widen, narrow where they fit, and never become floating point") {
  const std::vector<std::int64_t> fits = {0, -1, INT32_MAX, INT32_MIN};
  std::vector<std::int32_t> narrow(4);
  convert(view_of(fits), view_of(narrow));
  CHECK(narrow == std::vector<std::int32_t>{0, -1, INT32_MAX, INT32_MIN});
  std::vector<std::int64_t> wide(4);
  convert(view_of(std::as_const(narrow)), view_of(wide));
  CHECK(wide == fits);

  const std::vector<std::int64_t> too_large = {std::int64_t{INT32_MAX} + 1};
  std::vector<std::int32_t> one(1);
  CHECK_THROWS_WITH_AS(convert(view_of(too_large), view_of(one)), "2147483648 does not fit into i32",
                       std::invalid_argument);
  std::vector<float> number(1);
  CHECK_THROWS_WITH_AS(convert(view_of(too_large), view_of(number)),
                       "i64 is not converted to fp32: integers stay integers", std::invalid_argument);
  CHECK_THROWS_AS(convert(view_of(std::as_const(number)), view_of(one)), std::invalid_argument);
}

TEST_CASE("two shapes are refused") {
  const std::vector<float> from(6);
  std::vector<float> to(6);
  const auto* data = reinterpret_cast<const std::byte*>(from.data());
  CHECK_THROWS_WITH_AS(convert({data, DType::fp32, token_major(3, 2)}, view_of(to)),
                       "convert needs two views of one shape, not [token 3, head 2] and [token 6]",
                       std::invalid_argument);
}

}  // namespace
}  // namespace straddle::tensor
