#include <cstring>
#include <limits>

#include "tensor/strided.hpp"
#include "tensor/tensor.hpp"

namespace straddle::tensor {
namespace {

template <class Bits>
void fill(const View& view, Bits value) {
  const StridedLoops<1> loops(view.shape(), {view.strides()});
  loops.for_each_row([&](const auto& offsets, std::int64_t size, const auto& strides) {
    std::byte* row = view.data() + offsets[0] * static_cast<std::int64_t>(sizeof(Bits));
    const std::int64_t step = strides[0] * static_cast<std::int64_t>(sizeof(Bits));
    for (std::int64_t i = 0; i < size; ++i) std::memcpy(row + i * step, &value, sizeof(Bits));
  });
}

}  // namespace

void poison(const View& view) {
  switch (view.dtype()) {
    case DType::fp64:
      return fill<std::uint64_t>(view, 0x7ff8000000000000);
    case DType::fp32:
      return fill<std::uint32_t>(view, 0x7fc00000);
    case DType::bf16:
      return fill<std::uint16_t>(view, 0x7fc0);
    case DType::fp16:
      return fill<std::uint16_t>(view, 0x7e00);
    case DType::i64:
      return fill(view, std::numeric_limits<std::int64_t>::lowest());
    case DType::i32:
      return fill(view, std::numeric_limits<std::int32_t>::lowest());
  }
}

}  // namespace straddle::tensor
