#include "tensor/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace straddle::tensor {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::size_t kCacheLineBytes = 64;

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= kHugePageBytes ? kHugePageBytes : kCacheLineBytes};
}

class HostMemory final : public Memory {
 public:
  std::string_view name() const override { return "host"; }
  bool host_accessible() const override { return true; }

  std::byte* allocate(std::size_t bytes) override {
    auto* data = static_cast<std::byte*>(::operator new(bytes, alignment_of(bytes)));
    // Every first touch of a small page is a fault, which is dear in a virtual machine. Only advice: a kernel
    // without huge pages says no, and the buffer is as good. The tail may share its page with other data.
    if (bytes >= kHugePageBytes) ::madvise(data, bytes - bytes % kHugePageBytes, MADV_HUGEPAGE);
    return data;
  }

  void deallocate(std::byte* data, std::size_t bytes) noexcept override {
    ::operator delete(data, alignment_of(bytes));
  }

  void copy_from_host(std::byte* to, const std::byte* from, std::size_t bytes) override {
    std::copy_n(from, bytes, to);
  }
  void copy_to_host(std::byte* to, const std::byte* from, std::size_t bytes) override {
    std::copy_n(from, bytes, to);
  }
};

}  // namespace

Memory& host_memory() {
  static HostMemory memory;
  return memory;
}

}  // namespace straddle::tensor
