#include "support/doubles.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace straddle::cp::testing {
namespace {

// No x86-64 or AArch64 user address has this bit.
constexpr std::uintptr_t kDeviceBit = std::uintptr_t{1} << 62;

std::byte* moved(const std::byte* data, std::uintptr_t bit_flip) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(data) ^ bit_flip);
}

class KernelDouble final : public kernel::Kernel {
 public:
  KernelDouble(kernel::Kernel& inner, KernelDoubleOptions options)
      : inner_(inner), options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] bool varlen() const override { return options_.varlen.value_or(inner_.varlen()); }
  [[nodiscard]] tensor::Memory& memory() const override {
    return options_.memory != nullptr ? *options_.memory : inner_.memory();
  }
  [[nodiscard]] std::optional<std::string> unsupported(const kernel::Requirements& needs) const override {
    return options_.unsupported ? options_.unsupported : inner_.unsupported(needs);
  }
  void forward(const kernel::VarlenProblem& problem, const kernel::ForwardResults& results) override {
    if (options_.before_forward) options_.before_forward();
    if (options_.see_problem) options_.see_problem(problem);
    inner_.forward(problem, results);
  }
  void backward(const kernel::VarlenProblem& problem, const kernel::BackwardInputs& inputs,
                const kernel::BackwardResults& results) override {
    if (options_.before_backward) options_.before_backward();
    if (options_.see_problem) options_.see_problem(problem);
    inner_.backward(problem, inputs, results);
  }

 private:
  kernel::Kernel& inner_;
  KernelDoubleOptions options_;
};

class DeviceKernelDouble final : public kernel::Kernel {
 public:
  explicit DeviceKernelDouble(DeviceMemoryDouble& memory) : memory_(memory), plain_(plain_kernel_double()) {}

  [[nodiscard]] std::string_view name() const override { return "device double"; }
  [[nodiscard]] bool varlen() const override { return true; }
  [[nodiscard]] tensor::Memory& memory() const override { return memory_; }
  [[nodiscard]] std::optional<std::string> unsupported(const kernel::Requirements&) const override {
    return {};
  }
  void forward(const kernel::VarlenProblem& problem, const kernel::ForwardResults& results) override {
    plain_->forward(here(problem), {here(results.out), here(results.lse)});
  }
  void backward(const kernel::VarlenProblem& problem, const kernel::BackwardInputs& inputs,
                const kernel::BackwardResults& results) override {
    kernel::BackwardInputs moved_inputs{here(inputs.out), here(inputs.lse), here(inputs.d_out), {}};
    if (inputs.d_lse) moved_inputs.d_lse = here(*inputs.d_lse);
    plain_->backward(here(problem), moved_inputs, {here(results.d_q), here(results.d_k), here(results.d_v)});
  }

 private:
  static tensor::ConstView here(const tensor::ConstView& view) {
    return {DeviceMemoryDouble::on_device(view.data()), view.dtype(), view.shape(), view.strides()};
  }
  static tensor::View here(const tensor::View& view) {
    return {moved(view.data(), kDeviceBit), view.dtype(), view.shape(), view.strides()};
  }
  static kernel::VarlenProblem here(kernel::VarlenProblem problem) {
    problem.q = here(problem.q);
    problem.k = here(problem.k);
    problem.v = here(problem.v);
    return problem;
  }

  DeviceMemoryDouble& memory_;
  std::unique_ptr<kernel::Kernel> plain_;
};

}  // namespace

std::unique_ptr<kernel::Kernel> kernel_double(kernel::Kernel& inner, KernelDoubleOptions options) {
  return std::make_unique<KernelDouble>(inner, std::move(options));
}

std::byte* DeviceMemoryDouble::allocate(std::size_t bytes) {
  live_bytes_ += static_cast<std::int64_t>(bytes);
  return moved(tensor::host_memory().allocate(bytes), kDeviceBit);
}

void DeviceMemoryDouble::deallocate(std::byte* data, std::size_t bytes) noexcept {
  live_bytes_ -= static_cast<std::int64_t>(bytes);
  tensor::host_memory().deallocate(moved(data, kDeviceBit), bytes);
}

void DeviceMemoryDouble::copy_from_host(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(moved(to, kDeviceBit), from, bytes);
}

void DeviceMemoryDouble::copy_to_host(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, moved(from, kDeviceBit), bytes);
}

const std::byte* DeviceMemoryDouble::on_device(const std::byte* data) { return moved(data, kDeviceBit); }

std::unique_ptr<kernel::Kernel> device_kernel_double(DeviceMemoryDouble& memory) {
  return std::make_unique<DeviceKernelDouble>(memory);
}

}  // namespace straddle::cp::testing
