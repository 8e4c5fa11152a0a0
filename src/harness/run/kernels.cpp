#include "harness/run/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "cpu/kernels.hpp"

namespace straddle::harness {

std::vector<std::string> kernel_names() { return {"dense", "cpu"}; }

std::unique_ptr<kernel::Kernel> make_kernel(std::string_view name, int threads) {
  if (name == "dense") return cpu::dense_kernel();
  if (name == "cpu") return cpu::blockwise_kernel(threads);
  throw std::invalid_argument(
      fmt::format("no kernel \"{}\" in this build, which has {}", name, fmt::join(kernel_names(), ", ")));
}

}  // namespace straddle::harness
