#include "tensor/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace straddle::tensor {
namespace {

using Strides = ConstView::Strides;

Strides row_major(const Shape& shape) {
  Strides strides{};
  std::int64_t stride = 1;
  for (std::size_t i = shape.extents().size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape.extents()[i].size;
  }
  return strides;
}

std::string text(const Strides& strides, const Shape& shape) {
  return fmt::format("{}", fmt::join(strides.begin(), strides.begin() + shape.axes(), " "));
}

}  // namespace

template <class Byte>
BasicView<Byte>::BasicView(Byte* data, DType dtype, const Shape& shape)
    : BasicView(data, dtype, shape, row_major(shape)) {}

template <class Byte>
BasicView<Byte>::BasicView(Byte* data, DType dtype, const Shape& shape, const Strides& strides)
    : data_(data), dtype_(dtype), shape_(shape), strides_(strides) {}

// The stride of an axis with one element is never used, and a view without elements has no order to break.
template <class Byte>
bool BasicView<Byte>::contiguous() const {
  if (numel() == 0) return true;
  const Strides expected = row_major(shape_);
  for (std::size_t i = 0; i < shape_.extents().size(); ++i) {
    if (shape_.extents()[i].size != 1 && strides_[i] != expected[i]) return false;
  }
  return true;
}

template <class Byte>
BasicView<Byte> BasicView<Byte>::slice(Axis axis, std::int64_t begin, std::int64_t count) const {
  const std::int64_t size = shape_.size(axis);
  if (begin < 0 || count < 0 || begin > size - count) {
    throw std::out_of_range(fmt::format("a slice of {} from {} along axis {} leaves its {} of {}", count,
                                        begin, name(axis), size, shape_.text()));
  }
  const std::int64_t offset_bytes = begin * stride(axis) * static_cast<std::int64_t>(size_bytes(dtype_));
  return {data_ + offset_bytes, dtype_, shape_.with(axis, count), strides_};
}

template <class Byte>
std::span<Byte> BasicView<Byte>::bytes() const {
  if (!contiguous()) {
    throw std::logic_error(fmt::format("a contiguous view is needed, but {} has strides {}, not {}",
                                       shape_.text(), text(strides_, shape_),
                                       text(row_major(shape_), shape_)));
  }
  return {data_, static_cast<std::size_t>(numel()) * size_bytes(dtype_)};
}

template <class Byte>
void BasicView<Byte>::require_elements(DType wanted, std::size_t alignment) const {
  if (dtype_ != wanted) {
    throw std::logic_error(fmt::format("elements of {} were asked of a view of {}, {}", name(wanted),
                                       name(dtype_), shape_.text()));
  }
  const std::size_t past = reinterpret_cast<std::uintptr_t>(data_) % alignment;
  if (past != 0) {
    throw std::logic_error(
        fmt::format("{} needs an address that is a multiple of {}, this view begins {} past one; "
                    "convert() reads such views",
                    name(dtype_), alignment, past));
  }
}

template class BasicView<std::byte>;
template class BasicView<const std::byte>;

}  // namespace straddle::tensor
