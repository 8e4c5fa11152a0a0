// The context-parallel attention op: path -> plan -> preflight -> exchange -> kernel -> consensus -> adjoint.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/transport.hpp"
#include "cp/exchange.hpp"
#include "kernel/kernel.hpp"
#include "pack/path.hpp"
#include "pack/plan.hpp"
#include "tensor/tensor.hpp"

namespace straddle::cp {

// Some rank failed; every rank of the group throws this with the same text, naming the first such rank, the
// step and the cause.
class ConsensusError : public std::runtime_error {
 public:
  ConsensusError(int failed_rank, std::string step, std::string cause);
  [[nodiscard]] int failed_rank() const { return failed_rank_; }
  [[nodiscard]] const std::string& step() const { return step_; }  // "plan", "forward", "backward", ..

 private:
  int failed_rank_;
  std::string step_;
};

// Replaces parts of the op, one a seam; for faults and tests. Unset members change nothing.
struct Seams {
  std::function<pack::Plan(pack::Plan)> plan;  // applied before validation
  std::function<std::unique_ptr<Exchange>(std::unique_ptr<Exchange>)> exchange;
  std::function<std::unique_ptr<Adjoint>(std::unique_ptr<Adjoint>)> adjoint;
};

struct AttentionConfig {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t v_head_dim = 1;
  double softmax_scale = 1;
  tensor::DType dtype = tensor::DType::fp32;
  pack::ExchangeKind exchange = pack::ExchangeKind::a2a;
  Reduce reduce = Reduce::ordered;
  bool first_segment_apart =
      false;  // the long-left-prefix guard: the asymmetric first segment is a kernel call of its own
  std::uint64_t case_hash = 0;  // of what all ranks must agree on; compared at every consensus
  std::vector<int> nodes;       // node of each rank of the group; empty: one node
};

// What a forward keeps for its backward: the gathered K/V of one layer.
struct Saved {
  tensor::Tensor needed_k;  // [b_r + rows_per_rank, kv_heads, head_dim]
  tensor::Tensor needed_v;
};

struct ForwardShard {
  tensor::ConstView q, k,
      v;  // this rank's rows [rows_per_rank, .., ..], host, storage dtype; padding rows may hold anything
};
struct ForwardShardResults {
  tensor::View out, lse;  // padding rows become 0 and -inf
};
struct BackwardShard {
  tensor::ConstView q;
  tensor::ConstView out, lse, d_out;
  std::optional<tensor::ConstView> d_lse;
};
struct BackwardShardResults {
  tensor::View d_q, d_k, d_v;  // storage dtype; rounded once after the sum over ranks; padding rows become 0
};

// One op for one pack on one group of ranks, shared by all layers. All members but the plain getters are
// collective. What a rank did not receive is NaN in its buffers. A failure on one rank makes all ranks throw
// the same ConsensusError in that same call, and the op stays usable.
class Attention {
 public:
  // Chooses the path, makes and validates the plan, asks the kernels (preflight). `kernel` is the one asked
  // for, `dense` what all ranks take where it can't run on one of them; both, and transport, must outlive the
  // op.
  Attention(const AttentionConfig& config, const pack::Pack& pack, comm::Transport& transport,
            kernel::Kernel& kernel, kernel::Kernel& dense, const Seams& seams = {});
  ~Attention();

  [[nodiscard]] const pack::Plan& plan() const;
  [[nodiscard]] const pack::Path& path() const;
  [[nodiscard]] const kernel::Kernel& kernel() const;  // the one that runs

  [[nodiscard]] Saved forward(const ForwardShard& shard, const ForwardShardResults& results);
  void backward(const Saved& saved, const BackwardShard& shard, const BackwardShardResults& results);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace straddle::cp
