// The 16-bit floating-point formats by their definition, to judge the conversions with.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/dtype.hpp"

namespace straddle::tensor {

// 1 sign bit, then the exponent with its bias, then the mantissa. An exponent field of 0 is subnormal, one of
// all ones is infinity (mantissa 0) or NaN.
struct SixteenBit {
  int exponent_bits;
  int mantissa_bits;

  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  }
  [[nodiscard]] bool is_nan(std::uint16_t bits) const { return (bits & 0x7fff) > infinity(); }

  // Not for NaN. The value an unbounded exponent would give: infinity counts as the number that follows the
  // largest one, which is what rounding to nearest measures distances to.
  [[nodiscard]] double unbounded_value(std::uint16_t bits) const {
    const int exponent = (bits & 0x7fff) >> mantissa_bits;
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    const int significand = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
    const double magnitude = std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias() - mantissa_bits);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
  [[nodiscard]] double value(std::uint16_t bits) const {
    if (is_nan(bits)) return std::numeric_limits<double>::quiet_NaN();
    if ((bits & 0x7fff) == infinity()) return (bits & 0x8000) != 0 ? -HUGE_VAL : HUGE_VAL;
    return unbounded_value(bits);
  }

  // Nearest to even by definition: between two neighbours the midpoint decides, and on it the even one of the
  // two. Midpoints have one bit more than the format and are exact in double.
  [[nodiscard]] std::uint16_t nearest(double number) const {
    const double magnitude = std::fabs(number);
    std::uint16_t low = 0;
    for (std::uint16_t high = infinity(); high - low > 1;) {  // bisection: values grow with their bits
      const auto middle = static_cast<std::uint16_t>((low + high) / 2);
      (unbounded_value(middle) <= magnitude ? low : high) = middle;
    }
    const auto high = static_cast<std::uint16_t>(low + 1);
    const double midpoint = (unbounded_value(low) + unbounded_value(high)) / 2;
    const bool upper = magnitude > midpoint || (magnitude == midpoint && high % 2 == 0);
    return static_cast<std::uint16_t>((upper ? high : low) | (std::signbit(number) ? 0x8000 : 0));
  }
};

template <class T>
inline constexpr SixteenBit kSixteenBit{};
template <>
inline constexpr SixteenBit kSixteenBit<Bf16>{8, 7};
template <>
inline constexpr SixteenBit kSixteenBit<Fp16>{5, 10};

}  // namespace straddle::tensor
