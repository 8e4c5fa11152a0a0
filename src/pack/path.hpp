// Which exchange is taken, and the named reason whenever it is not the one asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pack/plan.hpp"

namespace straddle::pack {

enum class PathReason : std::uint8_t {
  as_asked,
  kernel_not_varlen,  // the kernel masks a whole row (dense): it needs all keys
  no_metadata,        // no or invalid document boundaries
  spans_nodes,        // the group spans nodes and STRADDLE_ALLOW_XNODE is not 1 on rank 0
  preflight_failed,   // a rank's kernel can't run this case
  halo_short          // some b_r > L
};
[[nodiscard]] std::string_view name(PathReason reason);

// What all ranks agree on before they choose.
struct PathFacts {
  bool kernel_varlen = true;
  bool metadata_valid = true;
  bool spans_nodes = false;
  bool allow_xnode = false;
  std::optional<std::int64_t> preflight_failed_rank;
  std::int64_t max_straddle = 0;
  std::int64_t max_straddle_rank = 0;  // the first rank with it
  std::int64_t rows_per_rank = 0;
};

struct Path {
  ExchangeKind asked = ExchangeKind::allgather;
  ExchangeKind taken = ExchangeKind::allgather;
  PathReason reason = PathReason::as_asked;
  std::string detail;  // "rank 2 needs 6 rows to its left, rank 1 owns 4"; empty when as asked
  bool operator==(const Path&) const = default;
};

// First match: not varlen, metadata, nodes, preflight -> allgather; halo not legal -> a2a. The reason is
// as_asked when the rule changes nothing (allgather was asked for).
[[nodiscard]] Path select_path(ExchangeKind asked, const PathFacts& facts);

}  // namespace straddle::pack
