// Scratch memory that grows and is used again.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "cpu/vector.hpp"

namespace straddle::cpu {

// At least 64-byte aligned; content is unspecified after every call of resize.
template <class T>
class Buffer {
 public:
  // Room for `count` elements. Throws std::bad_alloc.
  T* resize(std::int64_t count) {
    if (count > capacity_) grow(count);
    return data_.get();
  }
  [[nodiscard]] T* data() const { return data_.get(); }

 private:
  // Big buffers lie on huge pages: the first touch of a small page costs more than the arithmetic on it.
  static constexpr std::int64_t kHugePageBytes = std::int64_t{2} << 20;

  void grow(std::int64_t count) {
    capacity_ = 0;
    const std::int64_t wanted = count * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t alignment = wanted < kHugePageBytes ? 64 : kHugePageBytes;
    const std::int64_t bytes = round_up(wanted, alignment);
    data_.reset(static_cast<T*>(
        std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(bytes))));
    if (!data_) throw std::bad_alloc();
    if (bytes >= kHugePageBytes) madvise(data_.get(), static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
    capacity_ = bytes / static_cast<std::int64_t>(sizeof(T));
  }

  struct Free {
    void operator()(T* data) const noexcept { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
  std::int64_t capacity_ = 0;
};

}  // namespace straddle::cpu
