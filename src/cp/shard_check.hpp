// Are the tensors that a caller hands to the op what the plan says?
#pragma once

#include "cp/attention.hpp"

namespace straddle::cp {

// Throw std::invalid_argument naming the tensor, what was expected and what was seen.
void check(const AttentionConfig& config);
void check(const AttentionConfig& config, const pack::Plan& plan, const ForwardShard& shard,
           const ForwardShardResults& results);
void check(const AttentionConfig& config, const pack::Plan& plan, const Saved& saved,
           const BackwardShard& shard, const BackwardShardResults& results);

}  // namespace straddle::cp
