// Rows of strided tensors in and out of the type the kernel computes in (T: float, or double for fp64).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "tensor/dtype.hpp"
#include "tensor/rounding.hpp"
#include "tensor/view.hpp"

namespace straddle::cpu {

namespace detail {

// Where rows (token, head) of a view [token, head, dim] start, in elements.
struct RowStrides {
  explicit RowStrides(const tensor::ConstView& view)
      : token(view.stride(tensor::Axis::token)),
        head(view.stride(tensor::Axis::head)),
        dim(view.stride(tensor::Axis::dim)),
        size(view.size(tensor::Axis::dim)) {}
  std::int64_t token, head, dim, size;
};

}  // namespace detail

// from [token, head, dim], any floating dtype T can hold.
template <class T>
class RowReader {
 public:
  explicit RowReader(const tensor::ConstView& from)
      : data_(from.data()), dtype_(from.dtype()), strides_(from) {}

  [[nodiscard]] std::int64_t size() const { return strides_.size; }

  // Row (token, head) to `to` [size()].
  void read(std::int64_t token, std::int64_t head, T* to) const {
    using tensor::DType;
    switch (dtype_) {
      case DType::fp64:
        return copy<double>(token, head, to);
      case DType::fp32:
        return copy<float>(token, head, to);
      case DType::bf16:
        return copy<tensor::Bf16>(token, head, to);
      case DType::fp16:
        return copy<tensor::Fp16>(token, head, to);
      default:
        throw std::logic_error("RowReader: not a floating dtype");
    }
  }

 private:
  template <class Storage>
  void copy(std::int64_t token, std::int64_t head, T* to) const {
    const auto* from =
        reinterpret_cast<const Storage*>(data_) + token * strides_.token + head * strides_.head;
    if (strides_.dim == 1) {
      for (std::int64_t d = 0; d < strides_.size; ++d) to[d] = tensor::rounding::cast<T>(from[d]);
    } else {
      for (std::int64_t d = 0; d < strides_.size; ++d)
        to[d] = tensor::rounding::cast<T>(from[d * strides_.dim]);
    }
  }

  const std::byte* data_;
  tensor::DType dtype_;
  detail::RowStrides strides_;
};

// to [token, head, dim]; values are rounded once to its dtype.
template <class T>
class RowWriter {
 public:
  explicit RowWriter(const tensor::View& to) : data_(to.data()), dtype_(to.dtype()), strides_(to) {}

  [[nodiscard]] std::int64_t size() const { return strides_.size; }

  // `from` [size()] to row (token, head).
  void write(std::int64_t token, std::int64_t head, const T* from) const {
    put(token, head, [from](std::int64_t d) { return from[d]; });
  }
  void write_zeros(std::int64_t token, std::int64_t head) const {
    put(token, head, [](std::int64_t) { return T{0}; });
  }

 private:
  template <class Value>
  void put(std::int64_t token, std::int64_t head, const Value& value) const {
    using tensor::DType;
    switch (dtype_) {
      case DType::fp64:
        return copy<double>(token, head, value);
      case DType::fp32:
        return copy<float>(token, head, value);
      case DType::bf16:
        return copy<tensor::Bf16>(token, head, value);
      case DType::fp16:
        return copy<tensor::Fp16>(token, head, value);
      default:
        throw std::logic_error("RowWriter: not a floating dtype");
    }
  }
  template <class Storage, class Value>
  void copy(std::int64_t token, std::int64_t head, const Value& value) const {
    auto* to = reinterpret_cast<Storage*>(data_) + token * strides_.token + head * strides_.head;
    for (std::int64_t d = 0; d < strides_.size; ++d)
      to[d * strides_.dim] = tensor::rounding::cast<Storage>(value(d));
  }

  std::byte* data_;
  tensor::DType dtype_;
  detail::RowStrides strides_;
};

// One value a row and head, [token, head] in T: LSE and its gradient.
template <class T>
class RowValues {
 public:
  template <class View>
  explicit RowValues(const View& view)
      : data_(view.template as<std::remove_const_t<T>>()),
        token_(view.stride(tensor::Axis::token)),
        head_(view.stride(tensor::Axis::head)) {}

  [[nodiscard]] T& at(std::int64_t token, std::int64_t head) const {
    return data_[token * token_ + head * head_];
  }

 private:
  T* data_;
  std::int64_t token_, head_;
};

}  // namespace straddle::cpu
