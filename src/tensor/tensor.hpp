// An owning, contiguous buffer with a dtype and a shape.
#pragma once

#include <cstddef>

#include "tensor/memory.hpp"
#include "tensor/view.hpp"

namespace straddle::tensor {

// Move-only. Floating-point content starts as NaN, so that a row nobody wrote is seen; integers start as the
// lowest value.
class Tensor {
 public:
  Tensor() = default;  // empty: no memory, no elements

  // Throws std::invalid_argument when the bytes of dtype x shape can't be counted, std::bad_alloc.
  Tensor(DType dtype, const Shape& shape, Memory& memory = host_memory());
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor();

  [[nodiscard]] View view() { return {data_, dtype_, shape_}; }
  [[nodiscard]] ConstView view() const { return {data_, dtype_, shape_}; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::size_t size_bytes() const { return bytes_; }
  [[nodiscard]] Memory* memory() const { return memory_; }
  [[nodiscard]] bool empty() const { return memory_ == nullptr; }

 private:
  void release() noexcept;

  Memory* memory_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  DType dtype_ = DType::fp32;
  Shape shape_;
};

// Fills every element with a quiet NaN (integers: the lowest value). Host memory; the view may be strided and
// aligned to one byte only.
void poison(const View& view);

// Copies values between two host views of equal shape that do not overlap, converting the dtype: widening is
// exact, narrowing rounds once to nearest even (from fp64 to 16 bit directly, not by way of fp32), and the
// same dtype keeps its bits. Both may be strided and aligned to one byte only, as tensors of a safetensors
// file are. Throws std::invalid_argument when the shapes differ, between integers and floating point, and on
// an i64 that i32 does not hold (to is then partly written).
void convert(const ConstView& from, const View& to);

}  // namespace straddle::tensor
