#include "cpu/requirements.hpp"

#include <fmt/format.h>

namespace straddle::cpu {

std::optional<std::string> unsupported_on_cpu(const kernel::Requirements& requirements) {
  const auto& r = requirements;
  if (!tensor::is_floating(r.dtype)) {
    return fmt::format("dtype must be fp64, fp32, bf16 or fp16, but is {}", tensor::name(r.dtype));
  }
  if (r.heads < 1 || r.kv_heads < 1 || r.head_dim < 1 || r.v_head_dim < 1) {
    return fmt::format(
        "heads and head sizes must be at least 1, but are heads {}, kv_heads {}, head_dim {}, "
        "v_head_dim {}",
        r.heads, r.kv_heads, r.head_dim, r.v_head_dim);
  }
  if (r.heads % r.kv_heads != 0) {
    return fmt::format("heads {} is no multiple of kv_heads {}", r.heads, r.kv_heads);
  }
  return std::nullopt;
}

}  // namespace straddle::cpu
