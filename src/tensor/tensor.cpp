#include "tensor/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace straddle::tensor {
namespace {

std::size_t checked_bytes(DType dtype, const Shape& shape) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.numel(), static_cast<std::int64_t>(size_bytes(dtype)), &bytes)) {
    throw std::invalid_argument(
        fmt::format("a tensor of {} {} has more bytes than an int64 counts", name(dtype), shape.text()));
  }
  return static_cast<std::size_t>(bytes);
}

// Memory that the host can't write: poisoned pieces are copied over.
void poison_through_host(Memory& memory, std::byte* data, std::size_t bytes, DType dtype) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const std::size_t piece_bytes = std::min(bytes, kPieceBytes);
  const Tensor piece(dtype, {{Axis::token, static_cast<std::int64_t>(piece_bytes / size_bytes(dtype))}});
  for (std::size_t done = 0; done < bytes; done += piece_bytes) {
    memory.copy_from_host(data + done, piece.view().data(), std::min(piece_bytes, bytes - done));
  }
}

}  // namespace

// Delegates, so that the destructor gives the buffer back if poisoning throws.
Tensor::Tensor(DType dtype, const Shape& shape, Memory& memory) : Tensor() {
  const std::size_t bytes = checked_bytes(dtype, shape);
  data_ = memory.allocate(bytes);
  memory_ = &memory;
  bytes_ = bytes;
  dtype_ = dtype;
  shape_ = shape;
  if (memory.host_accessible()) {
    poison(view());
  } else {
    poison_through_host(memory, data_, bytes_, dtype_);
  }
}

Tensor::Tensor(Tensor&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      dtype_(other.dtype_),
      shape_(std::exchange(other.shape_, {})) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  release();
  memory_ = std::exchange(other.memory_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  dtype_ = other.dtype_;
  shape_ = std::exchange(other.shape_, {});
  return *this;
}

Tensor::~Tensor() { release(); }

void Tensor::release() noexcept {
  if (memory_ != nullptr) memory_->deallocate(data_, bytes_);
}

}  // namespace straddle::tensor
