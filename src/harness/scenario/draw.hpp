// Random choices that are the same everywhere: SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable
// pseudorandom number generators"); <random>'s distributions differ between standard libraries.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>

namespace straddle::harness {

class Draw {
 public:
  explicit Draw(std::uint64_t seed, std::uint64_t stream = 0) : state_(mix(mix(seed) + stream)) {}

  [[nodiscard]] std::uint64_t bits() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  [[nodiscard]] double share() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)

  // An integer in [least, most]. The bias of the modulus is below 2^-40 for the ranges here.
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(most - least + 1));
  }

  // An integer in [least, most], least >= 1: first how many bits it has, then which, so that small values
  // come up as often as large ones.
  [[nodiscard]] std::int64_t log_between(std::int64_t least, std::int64_t most) {
    const auto width = [](std::int64_t value) {
      return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
    };
    const std::int64_t bits = between(width(least), width(most));
    return between(std::max(least, std::int64_t{1} << (bits - 1)),
                   std::min(most, (std::int64_t{1} << bits) - 1));
  }

  [[nodiscard]] bool chance(double probability) { return share() < probability; }

  template <class T>
  [[nodiscard]] T one_of(std::initializer_list<T> values) {
    return *(values.begin() + between(0, static_cast<std::int64_t>(values.size()) - 1));
  }

 private:
  [[nodiscard]] static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace straddle::harness
