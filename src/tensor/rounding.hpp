// One element from one storage type to another, inline: what the loops of convert() and to_bf16, to_fp16 are
// made of. Without branches, so that a compiler can vectorise them. Needs the default rounding mode.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tensor/dtype.hpp"

namespace straddle::tensor::rounding {

inline constexpr std::int32_t kMagnitudeFp32 = 0x7fffffff;
inline constexpr std::int32_t kInfinityFp32 = 0x7f800000;

// fp32 has the exponents of bf16, so a carry out of the 16 kept bits is the right next value, infinity
// included.
inline Bf16 bf16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const std::uint32_t quiet_nan = bits >> 16 | 0x0040;
  const bool is_nan = std::bit_cast<std::int32_t>(bits & kMagnitudeFp32) > kInfinityFp32;
  return {static_cast<std::uint16_t>(is_nan ? quiet_nan : rounded)};
}

// Exponents are biased by 127 in fp32 and by 15 in fp16. Below 2^-14 fp16 counts in units of 2^-24, which is
// the last bit of an fp32 in [0.5, 1): adding 0.5 there rounds in the right place.
inline Fp16 fp16_of(float value) {
  constexpr std::int32_t kRebias = (127 - 15) << 23;
  constexpr std::int32_t kSmallestNormal = (127 - 14) << 23;
  constexpr std::int32_t kInfinityFp16 = 0x7c00;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto magnitude = static_cast<std::int32_t>(bits & kMagnitudeFp32);
  const std::int32_t normal = (magnitude - kRebias + 0xfff + (magnitude >> 13 & 1)) >> 13;
  const std::int32_t subnormal =
      std::bit_cast<std::int32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::int32_t>(0.5F);
  const std::int32_t quiet_nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  const std::int32_t unbounded = magnitude < kSmallestNormal ? subnormal : normal;
  const std::int32_t bounded = unbounded < kInfinityFp16 ? unbounded : kInfinityFp16;
  const std::int32_t result = magnitude > kInfinityFp32 ? quiet_nan : bounded;
  return {static_cast<std::uint16_t>(static_cast<std::uint32_t>(result) | (bits >> 16 & 0x8000))};
}

// fp64 to fp32, rounded to odd: an inexact result always has its last bit set, so it is never a tie of the
// narrower type, and rounding it again gives what rounding once would (Boldo and Melquiond, 2008).
inline float odd_fp32_of(double value) {
  const auto nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::int32_t>(nearest);
  const double excess = std::fabs(static_cast<double>(nearest)) - std::fabs(value);  // NaN: neither below
  const std::int32_t toward_value = excess < 0 ? 1 : (excess > 0 ? -1 : 0);
  return std::bit_cast<float>(bits + ((bits & 1) != 0 ? 0 : toward_value));
}

inline float fp32_of(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

// A subnormal m x 2^-24 is read as the normal 2^-14 + m x 2^-24, less 2^-14.
inline float fp32_of(Fp16 value) {
  constexpr std::int32_t kRebias = (127 - 15) << 23;
  const std::int32_t magnitude = (value.bits & 0x7fff) << 13;
  const std::int32_t normal = magnitude + kRebias;
  const float below = std::bit_cast<float>(normal + (1 << 23)) - 0x1p-14F;
  const std::int32_t special = normal + kRebias;  // infinity and NaN: exponent 31 becomes 255
  const std::int32_t finite = magnitude < 1 << 23 ? std::bit_cast<std::int32_t>(below) : normal;
  const std::int32_t result = magnitude >= 31 << 23 ? special : finite;
  return std::bit_cast<float>(static_cast<std::uint32_t>(result) |
                              static_cast<std::uint32_t>(value.bits & 0x8000) << 16);
}

// Any floating-point storage type to any other, rounded at most once: widening to fp32 is exact.
template <class To, class From>
To cast(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Bf16> || std::is_same_v<From, Fp16>) {
    return cast<To>(fp32_of(value));
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_same_v<From, double>) {
    return cast<To>(odd_fp32_of(value));
  } else if constexpr (std::is_same_v<To, Bf16>) {
    return bf16_of(value);
  } else {
    return fp16_of(value);
  }
}

}  // namespace straddle::tensor::rounding
