list(APPEND sources
  scenario/attention_reader.cpp
  scenario/case.cpp
  scenario/case_text.cpp
  scenario/drawn_lengths.cpp
  scenario/expect_reader.cpp
  scenario/findings.cpp
  scenario/histogram.cpp
  scenario/matrix.cpp
  scenario/pack_reader.cpp
  scenario/random_cases.cpp
  scenario/scenario.cpp
  scenario/scenario_reader.cpp
  scenario/table_reader.cpp
  scenario/toml_tree.cpp)
