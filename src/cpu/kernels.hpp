// The kernels that run on the CPU.
#pragma once

#include <memory>

#include "kernel/kernel.hpp"

namespace straddle::cpu {

// Blockwise varlen attention with online softmax; fp64, fp32, and bf16/fp16 storage computed in fp32. The
// arithmetic of a row depends on its document's keys alone: out, lse and d_q of a row have the same bits
// wherever its document stands, whatever shares its shard, and for any number of threads.
[[nodiscard]] std::unique_ptr<kernel::Kernel> blockwise_kernel(int threads = 1);

// The whole [queries, keys] matrix of logits of the problem, masked by selection (a masked NaN stays out).
// For small packs.
[[nodiscard]] std::unique_ptr<kernel::Kernel> dense_kernel();

}  // namespace straddle::cpu
