// The oracle's work in units that ranks share: one document and one kv head of one layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/scenario/case.hpp"

namespace straddle::harness {

struct OracleTask {
  std::int64_t layer = 0;
  std::size_t document = 0;
  std::int64_t kv_head = 0;
  bool operator==(const OracleTask&) const = default;
};

// Floating-point operations of attention forward and backward over one document and its heads: six products
// of length head_dim or v_head_dim a visible pair.
[[nodiscard]] double attention_flop(const Case& point, std::int64_t document_length);

// Tasks of each rank, [ranks], in the order (layer, document, kv head). Costliest first, each to the rank
// with the least so far, the lowest of equals. A case too small to be worth a message (under 2 MFLOP) is rank
// 0's alone.
[[nodiscard]] std::vector<std::vector<OracleTask>> share_tasks(const Case& point, int ranks);

// True where share_tasks gives everything to rank 0 and nobody has to communicate.
[[nodiscard]] bool rank_zero_alone(const Case& point, int ranks);

}  // namespace straddle::harness
