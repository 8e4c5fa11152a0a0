// Which build this is.
#pragma once

#include <string_view>

namespace straddle::harness {

[[nodiscard]] std::string_view version();  // "0.1.0"
[[nodiscard]] std::string_view commit();   // "1a2b3c4", "unknown" outside a git checkout

}  // namespace straddle::harness
