// Waiting without taking the core from those who are waited for.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "comm/world.hpp"

namespace straddle::comm {

// How long a wait for `bytes` only yields the core between two looks: the peer is probably in the same
// operation already, and where the library copies through shared buffers, long messages advance only while
// both sides look. 40 us and the time the bytes take at 1 GB/s.
[[nodiscard]] std::chrono::nanoseconds yielding_time(std::size_t bytes);

// How long to sleep before the next look, when a wait has lasted for `waited`: 0 while it only yields. Then
// an eighth of the wait so far, from 20 us to 1 ms: late by an eighth at most, and a long wait looks a
// thousand times a second.
[[nodiscard]] std::chrono::nanoseconds next_pause(std::chrono::nanoseconds waited,
                                                  std::chrono::nanoseconds yielding);

// Looks until `done()`, with growing pauses. False when `deadline` (null: none) passes first.
[[nodiscard]] bool wait_until(const std::function<bool()>& done, std::size_t bytes, const Deadline* deadline);

}  // namespace straddle::comm
