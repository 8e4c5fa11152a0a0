// exp of a vector: the same bits in every lane and at every position.
#pragma once

#include <limits>
#include <numbers>

#include "cpu/vector.hpp"

namespace straddle::cpu {

// What the range reduction needs to know about T: x = n ln 2 + r, |r| <= ln(2) / 2, exp(x) = 2^n exp(r).
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float kLowest = -87.33654f;     // just above ln(2^-126): results below are not normal
  static constexpr float kHighest = 88.0f;         // 2^n stays finite
  static constexpr float kLn2High = 0.693359375f;  // 9 bits of ln 2: n times it is exact
  static constexpr float kLn2Low = -2.12194440e-4f;
  static constexpr float kToInteger = 0x1.8p23f;  // x + this has ulp 1: rounds x to an integer
  static constexpr int kDegree = 7;               // r^8 / 8! < 2^-27
  static constexpr int kMantissaBits = 23;
  static constexpr std::int32_t kExponentBias = 127;
};
template <>
struct ExpConstants<double> {
  static constexpr double kLowest = -708.396418532264;
  static constexpr double kHighest = 709.0;
  static constexpr double kLn2High = 0x1.62e42fee00000p-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  static constexpr double kToInteger = 0x1.8p52;
  static constexpr int kDegree = 13;
  static constexpr int kMantissaBits = 52;
  static constexpr std::int64_t kExponentBias = 1023;
};

namespace detail {

// 1 / k!
template <class T>
[[nodiscard]] consteval T reciprocal_factorial(int k) {
  long double factorial = 1;
  for (int i = 2; i <= k; ++i) factorial *= i;
  return static_cast<T>(1 / factorial);
}

// sum over i >= K of r^(i - K) / i!, up to the degree (Horner).
template <class T, int K>
[[nodiscard]] inline Vector<T> taylor_from(Vector<T> r) {
  constexpr T kCoefficient = reciprocal_factorial<T>(K);
  if constexpr (K == ExpConstants<T>::kDegree) {
    return broadcast(kCoefficient);
  } else {
    return mul_add(taylor_from<T, K + 1>(r), r, broadcast(kCoefficient));
  }
}

}  // namespace detail

// Within 1 ulp; results that would not be normal numbers are 0 (exp(-inf) too), above kHighest +inf; a NaN
// stays a NaN.
template <class T>
[[nodiscard]] inline Vector<T> exp(Vector<T> x) {
  using Constants = ExpConstants<T>;
  const Vector<T> to_integer = broadcast(Constants::kToInteger);
  const Vector<T> shifted = mul_add(x, broadcast(std::numbers::log2e_v<T>), to_integer);
  const Vector<T> n = shifted - to_integer;
  Vector<T> r = mul_add(n, broadcast(-Constants::kLn2High), x);
  r = mul_add(n, broadcast(-Constants::kLn2Low), r);
  const Integers<T> exponent =
      reinterpret_cast<Integers<T>>(shifted) - std::bit_cast<Bits<T>>(Constants::kToInteger);
  const Integers<T> scale = (exponent + Constants::kExponentBias) << Constants::kMantissaBits;
  Vector<T> result = detail::taylor_from<T, 0>(r) * reinterpret_cast<Vector<T>>(scale);
  result = x < Constants::kLowest ? Vector<T>{} : result;
  return x > Constants::kHighest ? broadcast(std::numeric_limits<T>::infinity()) : result;
}

}  // namespace straddle::cpu
