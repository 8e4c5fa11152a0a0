// One scenario file: its tables to cases.
#pragma once

#include <string>

#include "harness/scenario/findings.hpp"
#include "harness/scenario/scenario.hpp"

namespace straddle::harness {

// What is wrong goes to `findings`, then the scenario is without cases.
[[nodiscard]] Scenario read_scenario(const std::string& text, Findings& findings, const LoadOptions& options);

}  // namespace straddle::harness
