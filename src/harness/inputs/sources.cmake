list(APPEND sources
  inputs/file_inputs.cpp
  inputs/make_inputs.cpp
  inputs/names.cpp
  inputs/probes.cpp
  inputs/random_inputs.cpp
  inputs/row_source.cpp)
