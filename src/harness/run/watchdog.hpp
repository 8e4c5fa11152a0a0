// Ends a process whose main thread can't: a case that computes or waits past all deadlines.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace straddle::harness {

// While armed, calls `expired` on its own thread when the time has passed. One shot; arm again for the next
// case.
class Watchdog {
 public:
  explicit Watchdog(std::function<void()> expired);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void arm(std::chrono::duration<double> seconds);
  void disarm();

 private:
  void watch();

  std::function<void()> expired_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> at_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace straddle::harness
