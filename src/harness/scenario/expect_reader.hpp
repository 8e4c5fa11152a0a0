// The [expect] table of a file and of a pack.
#pragma once

#include "harness/scenario/findings.hpp"
#include "harness/scenario/scenario.hpp"
#include "harness/scenario/toml_tree.hpp"

namespace straddle::harness {

// Keys of the table override those of `base`.
[[nodiscard]] Expect read_expect(const TomlTable& table, const std::string& name, Expect base,
                                 Findings& findings);

// Says something about the geometry or the path, and not only which tensors may be zero.
[[nodiscard]] bool states_facts(const Expect& expect);

}  // namespace straddle::harness
