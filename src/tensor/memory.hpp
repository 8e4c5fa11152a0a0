// Where bytes live. Host memory is here; a device implements the same interface.
#pragma once

#include <cstddef>
#include <string_view>

namespace straddle::tensor {

class Memory {
 public:
  virtual ~Memory() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "host", ..
  [[nodiscard]] virtual bool host_accessible() const = 0;

  // At least 64-byte aligned; content unspecified. bytes may be 0 (host: still a valid pointer, never null).
  // Throws std::bad_alloc.
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void deallocate(std::byte* data, std::size_t bytes) noexcept = 0;

  virtual void copy_from_host(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void copy_to_host(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
};

// Without state. From 2 MiB on, buffers start on a huge page and ask for huge pages.
[[nodiscard]] Memory& host_memory();

}  // namespace straddle::tensor
