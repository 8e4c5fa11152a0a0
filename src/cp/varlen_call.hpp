// From a rank's shard and its plan to kernel calls.
#pragma once

#include <cstdint>
#include <vector>

#include "cp/real_rows.hpp"
#include "kernel/kernel.hpp"
#include "pack/plan.hpp"
#include "tensor/view.hpp"

namespace straddle::cp {

// One call of a kernel: consecutive segments of the plan, with their ranges among the real rows.
struct KernelCall {
  std::int64_t query_begin = 0;
  std::int64_t key_begin = 0;
  std::vector<std::int32_t> cu_seqlens_q, cu_seqlens_k;  // from 0
  std::int64_t max_seqlen_q = 0;
  std::int64_t max_seqlen_k = 0;
  [[nodiscard]] std::int64_t queries() const { return cu_seqlens_q.back(); }
  [[nodiscard]] std::int64_t keys() const { return cu_seqlens_k.back(); }
};

// All segments in one call; with first_segment_apart the asymmetric first one (k_0 > q_0) in a call of its
// own. No call at all for a rank without real rows: an empty problem is nothing that a kernel should have to
// launch.
[[nodiscard]] std::vector<KernelCall> kernel_calls(const pack::Plan& plan, bool first_segment_apart);

// A rank's part of the attention. Tensors are in host memory and have all rows of the shard or of the needed
// range; padding rows of inputs are never read, those of results become 0 (lse: -inf).
class VarlenAttention {
 public:
  VarlenAttention(const pack::Plan& plan, bool first_segment_apart, double softmax_scale);

  // q, out, lse [rows_per_rank, ..]; k, v [b_r + rows_per_rank, ..].
  void forward(kernel::Kernel& kernel, const tensor::ConstView& q, const tensor::ConstView& k,
               const tensor::ConstView& v, const kernel::ForwardResults& results) const;

  // q, inputs, d_q [rows_per_rank, ..]; k, v, d_k, d_v [b_r + rows_per_rank, ..]. d_k, d_v are complete over
  // this rank's queries: each key row belongs to one segment, so calls don't overlap.
  void backward(kernel::Kernel& kernel, const tensor::ConstView& q, const tensor::ConstView& k,
                const tensor::ConstView& v, const kernel::BackwardInputs& inputs,
                const kernel::BackwardResults& results) const;

 private:
  RealRows queries_, keys_;
  std::vector<KernelCall> calls_;
  double softmax_scale_;
};

}  // namespace straddle::cp
