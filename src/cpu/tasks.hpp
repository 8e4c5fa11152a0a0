// Independent tasks on a few threads.
#pragma once

#include <cstdint>
#include <functional>

namespace straddle::cpu {

// Calls run(worker, task) once for each task in [0, tasks), in order of starting, on at most `threads`
// threads (the caller's among them); worker in [0, threads) is the thread's number. Returns when all are
// done. If some throw, one of the exceptions is rethrown and tasks that were not started are dropped.
void run_tasks(int threads, std::int64_t tasks,
               const std::function<void(int worker, std::int64_t task)>& run);

}  // namespace straddle::cpu
