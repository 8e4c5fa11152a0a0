// What the kernels on the CPU can't run.
#pragma once

#include <optional>
#include <string>

#include "kernel/kernel.hpp"

namespace straddle::cpu {

// The reason, or nothing: any floating dtype, head size and number of heads runs, if heads divide evenly.
[[nodiscard]] std::optional<std::string> unsupported_on_cpu(const kernel::Requirements& requirements);

}  // namespace straddle::cpu
