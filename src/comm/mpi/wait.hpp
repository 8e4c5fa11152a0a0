// Waiting without taking the core from those who are waited for.
#pragma once

#include <chrono>
#include <functional>

#include "comm/world.hpp"

namespace straddle::comm {

// How long to sleep before the next look, when a wait has lasted for `waited`. At first 0: yield the core and
// look again, since the peer is probably in the same operation already. Then an eighth of the wait so far,
// from 20 us to 1 ms: late by an eighth at most, and a long wait looks a thousand times a second.
[[nodiscard]] std::chrono::nanoseconds next_pause(std::chrono::nanoseconds waited);

// Looks until `done()`, with growing pauses. False when `deadline` (null: none) passes first.
[[nodiscard]] bool wait_until(const std::function<bool()>& done, const Deadline* deadline);

}  // namespace straddle::comm
