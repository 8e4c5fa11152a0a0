// One rank's part of a case: the op of cp/ over this rank's rows, all layers forward and then backward.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "comm/transport.hpp"
#include "cp/attention.hpp"
#include "harness/inputs/inputs.hpp"
#include "harness/run/guarded.hpp"
#include "harness/scenario/case.hpp"
#include "kernel/kernel.hpp"

namespace straddle::harness {

// out, lse, d_q, d_k, d_v in the order of kResultNames.
using ShardLayer = std::array<Guarded, 5>;

struct ShardRun {
  std::vector<ShardLayer> layers;
  pack::Plan plan;
  pack::Path path;
  std::string kernel;                 // the one that ran
  std::vector<std::string> problems;  // guards that changed, a recompute with other bits
};

// Collective over `transport`, whose size is the case's W. nodes: of each rank. Throws what the op throws.
[[nodiscard]] ShardRun run_shard(const Case& point, const Inputs& inputs, comm::Transport& transport,
                                 kernel::Kernel& kernel, kernel::Kernel& dense, const std::vector<int>& nodes,
                                 const cp::Seams& seams);

[[nodiscard]] tensor::Shape result_shape(const Case& point, std::size_t result,
                                         std::int64_t rows);  // by kResultNames
[[nodiscard]] tensor::DType result_dtype(const Case& point, std::size_t result);

}  // namespace straddle::harness
