#include "tensor/dtype.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include "sixteen_bit.hpp"

namespace straddle::tensor {
namespace {

constexpr std::array kAll = {DType::fp64, DType::fp32, DType::bf16, DType::fp16, DType::i64, DType::i32};

template <class T, class Number>
T round_to(Number number) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return to_bf16(number);
  } else {
    return to_fp16(number);
  }
}

// A plain comparison first: millions of doctest assertions take minutes.
template <class T, class Number>
void check_nearest(Number number) {
  for (const Number signed_number : {number, -number}) {
    const std::uint16_t got = round_to<T>(signed_number).bits;
    const std::uint16_t want = kSixteenBit<T>.nearest(signed_number);
    if (got == want) continue;
    CAPTURE(signed_number);
    CHECK(got == want);
  }
}

// Every number of the format, every midpoint of two neighbours, and what lies directly beside both.
template <class T, class Number>
void check_nearest_around_every_number() {
  const SixteenBit format = kSixteenBit<T>;
  for (std::uint16_t bits = 0; bits < format.infinity(); ++bits) {
    const double low = format.unbounded_value(bits);
    const double high = format.unbounded_value(static_cast<std::uint16_t>(bits + 1));
    for (const double exact : {low, (low + high) / 2}) {
      const auto number = static_cast<Number>(exact);
      REQUIRE(static_cast<double>(number) == exact);
      check_nearest<T>(number);
      check_nearest<T>(std::nextafter(number, std::numeric_limits<Number>::infinity()));
      if (exact > 0) check_nearest<T>(std::nextafter(number, Number{0}));
    }
  }
}

TEST_CASE_TEMPLATE("to_float is exact, and every 16-bit pattern comes back", T, Bf16, Fp16) {
  const SixteenBit format = kSixteenBit<T>;
  const auto quiet_bit = static_cast<std::uint16_t>(1 << (format.mantissa_bits - 1));
  for (int pattern = 0; pattern <= 0xffff; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const float wide = to_float(T{bits});
    CAPTURE(pattern);
    if (format.is_nan(bits)) {
      REQUIRE(std::isnan(wide));
      REQUIRE(round_to<T>(wide).bits == (bits | quiet_bit));
      REQUIRE(round_to<T>(static_cast<double>(wide)).bits == (bits | quiet_bit));
    } else {
      REQUIRE(static_cast<double>(wide) == format.value(bits));
      REQUIRE(std::signbit(wide) == (bits >= 0x8000));
      REQUIRE(round_to<T>(wide).bits == bits);
      REQUIRE(round_to<T>(static_cast<double>(wide)).bits == bits);
    }
  }
}

TEST_CASE_TEMPLATE("from fp32: nearest, ties to even, around every number and midpoint", T, Bf16, Fp16) {
  check_nearest_around_every_number<T, float>();
}

TEST_CASE_TEMPLATE("from fp64: nearest, ties to even, around every number and midpoint", T, Bf16, Fp16) {
  check_nearest_around_every_number<T, double>();
}

TEST_CASE_TEMPLATE("from fp32 and fp64: nearest for random bit patterns", T, Bf16, Fp16) {
  constexpr std::uint64_t kSeed = 7;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 300'000; ++i) {
    const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(narrow)) check_nearest<T>(narrow);
    // A double of the exponents in use: any exponent would nearly always be out of range.
    check_nearest<T>(std::ldexp(1.0 + std::ldexp(static_cast<double>(random() >> 12), -52),
                                static_cast<int>(random() % 290) - 155));
  }
}

TEST_CASE("from fp64 is rounded once: by way of fp32 these become ties and go the other way") {
  const double above_tie_fp16 = 1 + 0x1p-11 + 0x1p-40;
  CHECK(to_fp16(above_tie_fp16).bits == 0x3c01);
  CHECK(to_fp16(static_cast<float>(above_tie_fp16)).bits == 0x3c00);
  const double below_tie_fp16 = 1 + 3 * 0x1p-11 - 0x1p-40;
  CHECK(to_fp16(below_tie_fp16).bits == 0x3c01);
  CHECK(to_fp16(static_cast<float>(below_tie_fp16)).bits == 0x3c02);
  const double above_tie_bf16 = 1 + 0x1p-8 + 0x1p-40;
  CHECK(to_bf16(above_tie_bf16).bits == 0x3f81);
  CHECK(to_bf16(static_cast<float>(above_tie_bf16)).bits == 0x3f80);
  const double above_half_the_smallest = 0x1p-25 + 0x1p-60;  // subnormal in fp16
  CHECK(to_fp16(above_half_the_smallest).bits == 0x0001);
  CHECK(to_fp16(static_cast<float>(above_half_the_smallest)).bits == 0x0000);
}

TEST_CASE("overflow goes to infinity from the midpoint beyond the largest number on") {
  CHECK(to_fp16(65519.0F).bits == 0x7bff);
  CHECK(to_fp16(65520.0F).bits == 0x7c00);
  CHECK(to_fp16(-65520.0F).bits == 0xfc00);
  CHECK(to_fp16(std::nextafter(65520.0, 0.0)).bits == 0x7bff);
  CHECK(to_bf16(0x1.fep127F).bits == 0x7f7f);
  CHECK(to_bf16(0x1.fefffep127F).bits == 0x7f7f);
  CHECK(to_bf16(0x1.ffp127F).bits == 0x7f80);
  for (const double huge : {1e300, HUGE_VAL}) {
    CHECK(to_fp16(huge).bits == 0x7c00);
    CHECK(to_fp16(-huge).bits == 0xfc00);
    CHECK(to_bf16(huge).bits == 0x7f80);
    CHECK(to_bf16(-huge).bits == 0xff80);
  }
}

TEST_CASE("a NaN stays a quiet NaN with its sign, also where its payload does not fit") {
  for (const std::uint32_t sign : {0U, 1U}) {
    for (const std::uint32_t payload : {1U, 0x1fffU, 0x400000U, 0x7fffffU}) {
      const auto narrow = std::bit_cast<float>(sign << 31 | 0x7f800000U | payload);
      CAPTURE(payload);
      CHECK(to_bf16(narrow).bits == (sign << 15 | 0x7fc0U | payload >> 16));
      CHECK(to_fp16(narrow).bits == (sign << 15 | 0x7e00U | payload >> 13));
    }
    const auto wide = std::bit_cast<double>(std::uint64_t{sign} << 63 | 0x7ff0000000000001U);
    CHECK(to_bf16(wide).bits == (sign << 15 | 0x7fc0U));
    CHECK(to_fp16(wide).bits == (sign << 15 | 0x7e00U));
  }
}

TEST_CASE("names, sizes and kinds") {
  CHECK(size_bytes(DType::fp64) == sizeof(double));
  CHECK(size_bytes(DType::fp32) == sizeof(float));
  CHECK(size_bytes(DType::bf16) == sizeof(Bf16));
  CHECK(size_bytes(DType::fp16) == sizeof(Fp16));
  CHECK(size_bytes(DType::i64) == sizeof(std::int64_t));
  CHECK(size_bytes(DType::i32) == sizeof(std::int32_t));
  CHECK(name(DType::fp64) == "fp64");
  CHECK(name(DType::fp32) == "fp32");
  CHECK(name(DType::bf16) == "bf16");
  CHECK(name(DType::fp16) == "fp16");
  CHECK(name(DType::i64) == "i64");
  CHECK(name(DType::i32) == "i32");
  for (const DType dtype : kAll) CHECK(parse_dtype(name(dtype)) == dtype);
  CHECK(parse_dtype("fp8") == std::nullopt);
  CHECK(parse_dtype("") == std::nullopt);
  for (const DType dtype : kAll) CHECK(is_floating(dtype) == (dtype != DType::i64 && dtype != DType::i32));
  for (const DType dtype : kAll) {
    CHECK(accumulation_dtype(dtype) == (dtype == DType::fp64 ? DType::fp64 : DType::fp32));
  }
}

}  // namespace
}  // namespace straddle::tensor
