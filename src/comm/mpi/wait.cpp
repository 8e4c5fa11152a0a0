#include "comm/mpi/wait.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace straddle::comm {
namespace {

using std::chrono::nanoseconds;
constexpr nanoseconds kShortestYielding = std::chrono::microseconds(40);
constexpr nanoseconds kShortestPause = std::chrono::microseconds(20);
constexpr nanoseconds kLongestPause = std::chrono::milliseconds(1);

}  // namespace

nanoseconds yielding_time(std::size_t bytes) {
  return kShortestYielding + nanoseconds(bytes);  // a byte a nanosecond
}

nanoseconds next_pause(nanoseconds waited, nanoseconds yielding) {
  if (waited < yielding) return nanoseconds(0);
  return std::clamp(waited / 8, kShortestPause, kLongestPause);
}

bool wait_until(const std::function<bool()>& done, std::size_t bytes, const Deadline* deadline) {
  if (done()) return true;
  const nanoseconds yielding = yielding_time(bytes);
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const auto now = std::chrono::steady_clock::now();
    if (deadline != nullptr && deadline->at && now >= *deadline->at) return false;
    const nanoseconds pause = next_pause(now - start, yielding);
    if (pause == nanoseconds(0)) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(pause);
    }
    if (done()) return true;
  }
}

}  // namespace straddle::comm
