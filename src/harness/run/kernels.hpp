// The kernels that this build has, by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.hpp"

namespace straddle::harness {

[[nodiscard]] std::vector<std::string> kernel_names();  // "dense", "cpu"

// threads: of one rank. Throws std::invalid_argument listing the names.
[[nodiscard]] std::unique_ptr<kernel::Kernel> make_kernel(std::string_view name, int threads);

}  // namespace straddle::harness
