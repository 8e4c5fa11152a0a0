#include "cpu/tasks.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace straddle::cpu {
namespace {

TEST_CASE("run_tasks runs every task once, with workers below the number of threads") {
  for (const int threads : {1, 2, 3, 8}) {
    for (const std::int64_t tasks : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      std::atomic<bool> worker_in_range{true};
      run_tasks(threads, tasks, [&](int worker, std::int64_t task) {
        if (worker < 0 || worker >= threads) worker_in_range = false;
        ++runs[static_cast<std::size_t>(task)];
      });
      CHECK(worker_in_range);
      for (const auto& count : runs) CHECK(count == 1);
    }
  }
}

TEST_CASE("run_tasks with one thread runs in order on the caller's") {
  std::vector<std::int64_t> order;
  run_tasks(1, 5, [&](int, std::int64_t task) { order.push_back(task); });
  CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("run_tasks rethrows what a task throws, from any thread") {
  for (const int threads : {1, 3}) {
    for (const std::int64_t bad : {0, 5, 99}) {
      CHECK_THROWS_WITH_AS(run_tasks(threads, 100,
                                     [bad](int, std::int64_t task) {
                                       if (task == bad) throw std::runtime_error("this one");
                                     }),
                           "this one", std::runtime_error);
    }
  }
}

}  // namespace
}  // namespace straddle::cpu
