// FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv): names things, guards nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace straddle::harness {

[[nodiscard]] constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char character : text) {
    hash ^= static_cast<unsigned char>(character);
    hash *= 1099511628211u;
  }
  return hash;
}

}  // namespace straddle::harness
