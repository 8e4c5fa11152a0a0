#include "harness/run/watchdog.hpp"

namespace straddle::harness {

Watchdog::Watchdog(std::function<void()> expired)
    : expired_(std::move(expired)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::arm(std::chrono::duration<double> seconds) {
  {
    const std::lock_guard lock(mutex_);
    at_ = std::chrono::steady_clock::now() +
          std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
  }
  changed_.notify_one();
}

void Watchdog::disarm() {
  const std::lock_guard lock(mutex_);
  at_.reset();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!at_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < *at_) {
      changed_.wait_until(lock, *at_);
    } else {
      at_.reset();
      lock.unlock();
      expired_();
      lock.lock();
    }
  }
}

}  // namespace straddle::harness
