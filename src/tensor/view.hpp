// One strided view of somebody else's bytes, with named axes and a dtype.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"

namespace straddle::tensor {

template <class Byte>
class BasicView {
  template <class T>
  using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;

 public:
  using Strides = std::array<std::int64_t, Shape::kMaxAxes>;  // in elements, one an axis

  BasicView() = default;
  BasicView(Byte* data, DType dtype, const Shape& shape);  // contiguous, row-major
  BasicView(Byte* data, DType dtype, const Shape& shape, const Strides& strides);

  // A mutable view is a const view of the same bytes.
  template <class Other>
  requires(std::is_const_v<Byte> && !std::is_const_v<Other>)
      BasicView(const BasicView<Other>& other)  // NOLINT(google-explicit-constructor)
      : data_(other.data()), dtype_(other.dtype()), shape_(other.shape()), strides_(other.strides()) {}

  [[nodiscard]] Byte* data() const { return data_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Strides& strides() const { return strides_; }
  [[nodiscard]] std::int64_t size(Axis axis) const { return shape_.size(axis); }
  [[nodiscard]] std::int64_t stride(Axis axis) const {
    return strides_[static_cast<std::size_t>(shape_.index_of(axis))];
  }
  [[nodiscard]] std::int64_t numel() const { return shape_.numel(); }
  [[nodiscard]] bool contiguous() const;

  // Rows [begin, begin + count) along an axis, no copy. Throws std::out_of_range with the range and the
  // extent.
  [[nodiscard]] BasicView slice(Axis axis, std::int64_t begin, std::int64_t count) const;

  // All bytes of a contiguous view; throws std::logic_error otherwise.
  [[nodiscard]] std::span<Byte> bytes() const;

  // All elements of a contiguous view in order. Throws std::logic_error on another dtype, a strided view, or
  // bytes that are not aligned for T (convert() reads those).
  template <class T>
  [[nodiscard]] std::span<Element<T>> span() const {
    require_elements(DTypeOf<T>::value, alignof(T));
    const auto all = bytes();
    return {reinterpret_cast<Element<T>*>(all.data()), static_cast<std::size_t>(numel())};
  }

  // Pointer to the first element as T, for loops that use strides themselves. Throws std::logic_error on
  // another dtype or bytes that are not aligned for T.
  template <class T>
  [[nodiscard]] Element<T>* as() const {
    require_elements(DTypeOf<T>::value, alignof(T));
    return reinterpret_cast<Element<T>*>(data_);
  }

 private:
  void require_elements(DType wanted, std::size_t alignment) const;  // throws std::logic_error

  Byte* data_ = nullptr;
  DType dtype_ = DType::fp32;
  Shape shape_;
  Strides strides_{};
};

using View = BasicView<std::byte>;
using ConstView = BasicView<const std::byte>;

extern template class BasicView<std::byte>;
extern template class BasicView<const std::byte>;

}  // namespace straddle::tensor
