// Bytes that say who sent them to whom.
#pragma once

#include <cstddef>
#include <vector>

namespace straddle::comm {

// Byte `index` of message number `round` from `source` to `destination`. Neighbouring values of each argument
// give other bytes, and so do indices a power of two apart.
[[nodiscard]] inline std::byte tagged_byte(int source, int destination, int round, std::size_t index) {
  const std::size_t value = source * 29u + destination * 83u + round * 11u + index * 31u + index / 251u;
  return static_cast<std::byte>(value);
}

[[nodiscard]] inline std::vector<std::byte> tagged_bytes(int source, int destination, int round,
                                                         std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = tagged_byte(source, destination, round, i);
  return bytes;
}

}  // namespace straddle::comm
