#include "tensor/dtype.hpp"

#include <array>

#include "tensor/rounding.hpp"

namespace straddle::tensor {
namespace {

struct Description {
  DType dtype;
  std::string_view name;
  std::size_t size_bytes;
  bool floating;
};

constexpr std::array kDescriptions = {
    Description{DType::fp64, "fp64", 8, true}, Description{DType::fp32, "fp32", 4, true},
    Description{DType::bf16, "bf16", 2, true}, Description{DType::fp16, "fp16", 2, true},
    Description{DType::i64, "i64", 8, false},  Description{DType::i32, "i32", 4, false},
};

constexpr bool in_order_of_the_enum() {
  for (std::size_t i = 0; i < kDescriptions.size(); ++i) {
    if (static_cast<std::size_t>(kDescriptions[i].dtype) != i) return false;
  }
  return true;
}
static_assert(in_order_of_the_enum());

const Description& describe(DType dtype) { return kDescriptions.at(static_cast<std::size_t>(dtype)); }

}  // namespace

Bf16 to_bf16(float value) { return rounding::cast<Bf16>(value); }
Fp16 to_fp16(float value) { return rounding::cast<Fp16>(value); }
Bf16 to_bf16(double value) { return rounding::cast<Bf16>(value); }
Fp16 to_fp16(double value) { return rounding::cast<Fp16>(value); }
float to_float(Bf16 value) { return rounding::cast<float>(value); }
float to_float(Fp16 value) { return rounding::cast<float>(value); }

std::size_t size_bytes(DType dtype) { return describe(dtype).size_bytes; }
bool is_floating(DType dtype) { return describe(dtype).floating; }
std::string_view name(DType dtype) { return describe(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Description& description : kDescriptions) {
    if (description.name == name) return description.dtype;
  }
  return std::nullopt;
}

DType accumulation_dtype(DType storage) { return storage == DType::fp64 ? DType::fp64 : DType::fp32; }

}  // namespace straddle::tensor
