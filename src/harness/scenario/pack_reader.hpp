// One [[pack]] table: any description of a pack, made canonical.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/findings.hpp"
#include "harness/scenario/table_reader.hpp"
#include "harness/scenario/toml_tree.hpp"
#include "pack/pack.hpp"

namespace straddle::harness {

struct PackPoint {
  pack::Pack pack;
  std::int64_t empty_documents = 0;
  TomlPlace place;                    // of the [[pack]] line
  ValueList<std::int64_t> ranks;      // only these of the matrix's; empty: all
  const TomlEntry* expect = nullptr;  // [pack.expect], still to be read
};

// Nothing where a finding was added instead.
[[nodiscard]] std::optional<PackPoint> read_pack(const TomlValue& value, Findings& findings);

}  // namespace straddle::harness
