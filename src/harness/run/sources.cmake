list(APPEND sources
  run/bench.cpp
  run/collect.cpp
  run/examiner.cpp
  run/guarded.cpp
  run/kernels.cpp
  run/op_subject.cpp
  run/runner.cpp
  run/save.cpp
  run/second_runs.cpp
  run/shard_run.cpp
  run/watchdog.cpp)
