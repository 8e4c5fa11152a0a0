// [attention]: heads and head sizes, which may be written as pairs.
#pragma once

#include "harness/scenario/findings.hpp"
#include "harness/scenario/matrix.hpp"
#include "harness/scenario/toml_tree.hpp"

namespace straddle::harness {

// from_file: the inputs' file says heads, sizes and scale, so that these keys are refused and their members
// left empty.
void read_attention(const TomlTable& entries, bool from_file, Matrix& matrix, Findings& findings);

}  // namespace straddle::harness
