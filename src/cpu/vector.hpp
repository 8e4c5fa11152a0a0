// One SIMD vector of float or double, as wide as the processor's registers, on GCC's vector extensions.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace straddle::cpu {

#ifdef __AVX512F__
inline constexpr int kVectorBytes = 64;
#else
inline constexpr int kVectorBytes = 32;
#endif

template <class T>
struct VectorTypes;
template <>
struct VectorTypes<float> {
  using Bits = std::int32_t;
  using Vector [[gnu::vector_size(kVectorBytes)]] = float;
  using Integers [[gnu::vector_size(kVectorBytes)]] = std::int32_t;
};
template <>
struct VectorTypes<double> {
  using Bits = std::int64_t;
  using Vector [[gnu::vector_size(kVectorBytes)]] = double;
  using Integers [[gnu::vector_size(kVectorBytes)]] = std::int64_t;
};

template <class T>
using Vector = typename VectorTypes<T>::Vector;
template <class T>
using Integers = typename VectorTypes<T>::Integers;
template <class T>
using Bits = typename VectorTypes<T>::Bits;

template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

// The smallest multiple of `step` that is not below `value` >= 0.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

template <class T>
[[nodiscard]] inline Vector<T> load(const T* from) {
  Vector<T> value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class T>
inline void store(T* to, Vector<T> value) {
  std::memcpy(to, &value, sizeof(value));
}

template <class T>
[[nodiscard]] inline Vector<T> broadcast(T value) {
  return value - Vector<T>{};  // x - 0 is x for every x, -0 and NaN included
}

// a b + c, rounded once where the processor can: this target is compiled with -ffp-contract=fast, and no
// caller uses the product for anything else, so every instantiation contracts alike.
template <class V>
[[nodiscard]] inline V mul_add(V a, V b, V c) {
  return a * b + c;
}

// {0, 1, 2, ..}
template <class T>
[[nodiscard]] inline Integers<T> lane_numbers() {
  Integers<T> lanes{};
  for (int i = 0; i < kLanes<T>; ++i) lanes[i] = i;
  return lanes;
}

// value in lanes before `count`, `other` from there on; what the other lanes of value hold (NaN) is not used.
template <class T>
[[nodiscard]] inline Vector<T> first_lanes(Vector<T> value, std::int64_t count, T other) {
  return lane_numbers<T>() < static_cast<Bits<T>>(count) ? value : broadcast(other);
}

// A NaN in a or b may be dropped: whoever needs it finds it in the values themselves.
template <class V>
[[nodiscard]] inline V larger(V a, V b) {
  return a > b ? a : b;
}

namespace detail {

// Lane i of the result is lane i + distance of value (cyclic).
template <class T>
[[nodiscard]] inline Vector<T> rotate(Vector<T> value, int distance) {
  return __builtin_shuffle(value, (lane_numbers<T>() + static_cast<Bits<T>>(distance)) & (kLanes<T> - 1));
}

}  // namespace detail

template <class T>
[[nodiscard]] inline T largest_lane(Vector<T> value) {
#pragma GCC unroll 4
  for (int half = kLanes<T> / 2; half > 0; half /= 2) value = larger(value, detail::rotate<T>(value, half));
  return value[0];
}

// Always added in the same tree, whatever the values.
template <class T>
[[nodiscard]] inline T sum_of_lanes(Vector<T> value) {
#pragma GCC unroll 4
  for (int half = kLanes<T> / 2; half > 0; half /= 2) value = value + detail::rotate<T>(value, half);
  return value[0];
}

}  // namespace straddle::cpu
