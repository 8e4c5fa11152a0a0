// Test doubles of a kernel and of a device's memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kernel/kernel.hpp"
#include "tensor/memory.hpp"

namespace straddle::cp::testing {

// Computes each row by the definition, in double whatever the storage type is.
[[nodiscard]] std::unique_ptr<kernel::Kernel> plain_kernel_double();

// Decorates a kernel; each member replaces or precedes one thing it does.
struct KernelDoubleOptions {
  std::function<void()> before_forward = {};  // may throw
  std::function<void()> before_backward = {};
  std::optional<std::string> unsupported = {};
  std::optional<bool> varlen = {};
  std::function<void(const kernel::VarlenProblem&)> see_problem = {};
  tensor::Memory* memory = nullptr;
};
[[nodiscard]] std::unique_ptr<kernel::Kernel> kernel_double(kernel::Kernel& inner,
                                                            KernelDoubleOptions options);

// Memory that the host can't reach: every address it gives out faults when it is read or written directly.
class DeviceMemoryDouble final : public tensor::Memory {
 public:
  [[nodiscard]] std::string_view name() const override { return "device double"; }
  [[nodiscard]] bool host_accessible() const override { return false; }
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void deallocate(std::byte* data, std::size_t bytes) noexcept override;
  void copy_from_host(std::byte* to, const std::byte* from, std::size_t bytes) override;
  void copy_to_host(std::byte* to, const std::byte* from, std::size_t bytes) override;

  // The host address behind one of this memory's: for the kernel double that "runs on the device".
  [[nodiscard]] static const std::byte* on_device(const std::byte* data);
  [[nodiscard]] std::int64_t live_bytes() const { return live_bytes_; }

 private:
  std::int64_t live_bytes_ = 0;
};

// The plain double, on a device: reads and writes through `memory` only.
[[nodiscard]] std::unique_ptr<kernel::Kernel> device_kernel_double(DeviceMemoryDouble& memory);

}  // namespace straddle::cp::testing
