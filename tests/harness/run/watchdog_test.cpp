#include "harness/run/watchdog.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>

namespace straddle::harness {
namespace {

TEST_CASE("Watchdog: calls once its time has passed, and not when it was disarmed or armed anew") {
  std::atomic<int> calls{0};
  std::promise<void> called;
  {
    Watchdog watchdog([&] {
      ++calls;
      called.set_value();
    });
    watchdog.arm(std::chrono::hours(1));
    watchdog.disarm();
    watchdog.arm(std::chrono::hours(1));
    CHECK(calls == 0);
    watchdog.arm(std::chrono::milliseconds(1));
    called.get_future().wait();
    CHECK(calls == 1);
    watchdog.arm(std::chrono::hours(1));
  }
  CHECK(calls == 1);
}

}  // namespace
}  // namespace straddle::harness
