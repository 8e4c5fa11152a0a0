list(APPEND sources
  cli/agree.cpp
  cli/bench_verb.cpp
  cli/doctor_verb.cpp
  cli/environment.cpp
  cli/exit_file.cpp
  cli/launch.cpp
  cli/list_verb.cpp
  cli/plan_verb.cpp
  cli/program.cpp
  cli/run.cpp
  cli/run_verb.cpp
  cli/selection.cpp)
