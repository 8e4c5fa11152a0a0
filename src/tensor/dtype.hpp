// Storage types of tensors and their conversions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace straddle::tensor {

enum class DType : std::uint8_t { fp64, fp32, bf16, fp16, i64, i32 };

// 16-bit storage; arithmetic is done in float.
struct Bf16 {
  std::uint16_t bits = 0;
  bool operator==(const Bf16&) const = default;
};
struct Fp16 {
  std::uint16_t bits = 0;
  bool operator==(const Fp16&) const = default;
};

// Round once to nearest even, from fp64 too; subnormals are kept, overflow goes to infinity, a NaN stays a
// NaN with its sign and leading payload bits and is made quiet.
[[nodiscard]] Bf16 to_bf16(float value);
[[nodiscard]] Fp16 to_fp16(float value);
[[nodiscard]] Bf16 to_bf16(double value);
[[nodiscard]] Fp16 to_fp16(double value);
[[nodiscard]] float to_float(Bf16 value);  // exact
[[nodiscard]] float to_float(Fp16 value);  // exact

[[nodiscard]] std::size_t size_bytes(DType dtype);
[[nodiscard]] bool is_floating(DType dtype);
[[nodiscard]] std::string_view name(DType dtype);  // "fp64", "fp32", "bf16", "fp16", "i64", "i32"
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view name);

// What a kernel computes in and what dK/dV partials and LSE are stored as: fp64 for fp64, else fp32.
[[nodiscard]] DType accumulation_dtype(DType storage);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::fp64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::fp32;
};
template <>
struct DTypeOf<Bf16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<Fp16> {
  static constexpr DType value = DType::fp16;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};

}  // namespace straddle::tensor
