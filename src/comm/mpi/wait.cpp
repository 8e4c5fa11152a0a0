#include "comm/mpi/wait.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace straddle::comm {
namespace {

using std::chrono::nanoseconds;
constexpr nanoseconds kYielding = std::chrono::microseconds(40);
constexpr nanoseconds kShortestPause = std::chrono::microseconds(20);
constexpr nanoseconds kLongestPause = std::chrono::milliseconds(1);

}  // namespace

nanoseconds next_pause(nanoseconds waited) {
  if (waited < kYielding) return nanoseconds(0);
  return std::clamp(waited / 8, kShortestPause, kLongestPause);
}

bool wait_until(const std::function<bool()>& done, const Deadline* deadline) {
  if (done()) return true;
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const auto now = std::chrono::steady_clock::now();
    if (deadline != nullptr && deadline->at && now >= *deadline->at) return false;
    const nanoseconds pause = next_pause(now - start);
    if (pause == nanoseconds(0)) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(pause);
    }
    if (done()) return true;
  }
}

}  // namespace straddle::comm
