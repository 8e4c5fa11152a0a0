// 64-bit arithmetic that refuses to wrap around: lengths come from outside and may be anything.
#pragma once

#include <cstdint>
#include <string_view>

namespace straddle::pack {

// a + b and a * b; throw PackError naming `what` and both operands where 64 bits don't hold the result.
[[nodiscard]] std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what);
[[nodiscard]] std::int64_t checked_multiply(std::int64_t a, std::int64_t b, std::string_view what);

// n (n + 1) / 2 for n >= 0.
[[nodiscard]] std::int64_t checked_triangle(std::int64_t n, std::string_view what);

}  // namespace straddle::pack
