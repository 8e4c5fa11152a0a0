#include "pack/checked.hpp"

#include <fmt/format.h>

#include "pack/pack.hpp"

namespace straddle::pack {

std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  throw PackError(fmt::format("{}: {} + {} does not fit into 64 bits", what, a, b));
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  throw PackError(fmt::format("{}: {} * {} does not fit into 64 bits", what, a, b));
}

std::int64_t checked_triangle(std::int64_t n, std::string_view what) {
  const bool even = n % 2 == 0;  // halve the even factor first, so that only the result must fit
  return even ? checked_multiply(n / 2, checked_add(n, 1, what), what) : checked_multiply(n, n / 2 + 1, what);
}

}  // namespace straddle::pack
