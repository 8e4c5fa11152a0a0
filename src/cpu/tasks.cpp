#include "cpu/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace straddle::cpu {

void run_tasks(int threads, std::int64_t tasks,
               const std::function<void(int worker, std::int64_t task)>& run) {
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](int worker) {
    try {
      for (std::int64_t task = next++; task < tasks; task = next++) run(worker, task);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = tasks;
    }
  };
  {
    std::vector<std::jthread> others;
    const auto workers = static_cast<int>(std::min<std::int64_t>(threads, tasks));
    for (int worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace straddle::cpu
