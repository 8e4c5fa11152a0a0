#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "tensor/rounding.hpp"
#include "tensor/strided.hpp"
#include "tensor/tensor.hpp"

namespace straddle::tensor {
namespace {

template <class T>
inline constexpr bool kInteger = std::is_integral_v<T>;

template <class T>
T load(const std::byte* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* data, std::int64_t index, T value) {
  std::memcpy(data + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

template <class To, class From>
To cast(From value) {
  if constexpr (!kInteger<From>) {
    return rounding::cast<To>(value);
  } else {
    if (!std::in_range<To>(value)) {
      throw std::invalid_argument(fmt::format("{} does not fit into {}", value, name(DTypeOf<To>::value)));
    }
    return static_cast<To>(value);
  }
}

template <class From, class To>
void convert_elements(const ConstView& from, const View& to) {
  if constexpr (kInteger<From> != kInteger<To>) {
    throw std::invalid_argument(fmt::format("{} is not converted to {}: integers stay integers",
                                            name(from.dtype()), name(to.dtype())));
  } else {
    const StridedLoops<2> loops(to.shape(), {from.strides(), to.strides()});
    loops.for_each_row([&](const auto& offsets, std::int64_t size, const auto& strides) {
      const std::byte* source = from.data() + offsets[0] * static_cast<std::int64_t>(sizeof(From));
      std::byte* target = to.data() + offsets[1] * static_cast<std::int64_t>(sizeof(To));
      if (strides[0] == 1 && strides[1] == 1) {  // the case a compiler can vectorise
        if constexpr (std::is_same_v<From, To>) {
          std::memcpy(target, source, static_cast<std::size_t>(size) * sizeof(To));
        } else {
          for (std::int64_t i = 0; i < size; ++i) store(target, i, cast<To>(load<From>(source, i)));
        }
      } else {
        for (std::int64_t i = 0; i < size; ++i) {
          store(target, i * strides[1], cast<To>(load<From>(source, i * strides[0])));
        }
      }
    });
  }
}

// Calls visit with a value of the type that dtype stores.
template <class Visit>
void with_type(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::fp64:
      return visit(double{});
    case DType::fp32:
      return visit(float{});
    case DType::bf16:
      return visit(Bf16{});
    case DType::fp16:
      return visit(Fp16{});
    case DType::i64:
      return visit(std::int64_t{});
    case DType::i32:
      return visit(std::int32_t{});
  }
}

}  // namespace

void convert(const ConstView& from, const View& to) {
  if (from.shape() != to.shape()) {
    throw std::invalid_argument(fmt::format("convert needs two views of one shape, not {} and {}",
                                            from.shape().text(), to.shape().text()));
  }
  with_type(from.dtype(), [&](auto source) {
    with_type(to.dtype(),
              [&](auto target) { convert_elements<decltype(source), decltype(target)>(from, to); });
  });
}

}  // namespace straddle::tensor
