#include "harness/judge/row_reader.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace straddle::harness {
namespace {

using tensor::Axis;
using tensor::DType;

template <class T>
void widen_elements(const std::byte* data, std::int64_t offset, std::vector<double>& to) {
  const T* from = reinterpret_cast<const T*>(data) + offset;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if constexpr (std::is_same_v<T, float>) {
      to[i] = static_cast<double>(from[i]);
    } else {
      to[i] = static_cast<double>(tensor::to_float(from[i]));
    }
  }
}

}  // namespace

RowReader::RowReader(const tensor::ConstView& view)
    : data_(view.bytes().data()),
      dtype_(view.dtype()),
      heads_(view.size(Axis::head)),
      dim_(view.shape().has(Axis::dim) ? view.size(Axis::dim) : 1),
      widened_(static_cast<std::size_t>(dim_)) {
  if (!tensor::is_floating(dtype_)) {
    throw std::invalid_argument(
        fmt::format("results are judged in fp64, fp32, bf16 or fp16, not {}", tensor::name(dtype_)));
  }
  if (dtype_ == DType::fp64) doubles_ = view.as<double>();
}

const double* RowReader::widen(std::int64_t offset) {
  if (dtype_ == DType::fp32) widen_elements<float>(data_, offset, widened_);
  if (dtype_ == DType::bf16) widen_elements<tensor::Bf16>(data_, offset, widened_);
  if (dtype_ == DType::fp16) widen_elements<tensor::Fp16>(data_, offset, widened_);
  return widened_.data();
}

}  // namespace straddle::harness
