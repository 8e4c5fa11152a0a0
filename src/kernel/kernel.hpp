// One varlen attention problem in, results out: what every kernel under test does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tensor/memory.hpp"
#include "tensor/view.hpp"

namespace straddle::kernel {

// Segment t: queries [cu_q[t], cu_q[t+1]) attend to keys [cu_k[t], cu_k[t+1]), causal mask aligned
// bottom-right: with Q queries and K keys, query i of the segment sees keys j <= i + K - Q. A query without
// keys gets out = 0, lse = -inf, d_q = 0.
struct VarlenProblem {
  tensor::ConstView q;  // [tokens_q, heads, head_dim], storage dtype
  tensor::ConstView k;  // [tokens_k, kv_heads, head_dim]; q head h reads kv head h / (heads / kv_heads)
  tensor::ConstView v;  // [tokens_k, kv_heads, v_head_dim]
  std::span<const std::int32_t>
      cu_seqlens_q;  // [segments + 1], from 0; equal neighbours are an empty segment
  std::span<const std::int32_t> cu_seqlens_k;  // [segments + 1]
  std::int64_t max_seqlen_q = 0;
  std::int64_t max_seqlen_k = 0;
  double softmax_scale = 1;
};

// Every row of each output is written, rows of no segment too (out = 0, lse = -inf, gradients 0): a kernel
// never reads what is there before. q, k, v, d_out of rows of no segment are never used.
struct ForwardResults {
  tensor::View out;  // [tokens_q, heads, v_head_dim], storage dtype
  tensor::View lse;  // [tokens_q, heads], accumulation dtype (fp32; fp64 for fp64); natural log
};

struct BackwardInputs {
  tensor::ConstView out;  // as forward gave it
  tensor::ConstView
      lse;  // as forward gave it: of all keys of the row, also where this problem holds only some of them
  tensor::ConstView d_out;                 // [tokens_q, heads, v_head_dim], storage dtype
  std::optional<tensor::ConstView> d_lse;  // [tokens_q, heads], accumulation dtype: gradient of lse
};

struct BackwardResults {
  tensor::View d_q;  // [tokens_q, heads, head_dim], storage dtype
  tensor::View
      d_k;  // [tokens_k, kv_heads, head_dim], accumulation dtype: partial sums over this problem's queries
  tensor::View d_v;  // [tokens_k, kv_heads, v_head_dim], accumulation dtype
};

// What preflight asks a kernel about.
struct Requirements {
  tensor::DType dtype = tensor::DType::fp32;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t v_head_dim = 1;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "dense", "cpu", "cuda"
  [[nodiscard]] virtual bool varlen() const = 0;  // false: masks whole rows and needs all keys of the pack
  [[nodiscard]] virtual tensor::Memory& memory() const = 0;  // where all views of a problem must live
  // Why it can't run this, or nothing.
  [[nodiscard]] virtual std::optional<std::string> unsupported(const Requirements& requirements) const = 0;

  // Throw std::invalid_argument for a problem that breaks a rule (validate), anything else for a failure of
  // the device.
  virtual void forward(const VarlenProblem& problem, const ForwardResults& results) = 0;
  virtual void backward(const VarlenProblem& problem, const BackwardInputs& inputs,
                        const BackwardResults& results) = 0;
};

// The rules above on shapes, dtypes, head ratio, cu_seqlens and maxima; throws std::invalid_argument naming
// tensor, axis or entry, what was expected and what was seen. Every kernel calls it first.
void validate(const VarlenProblem& problem);
void validate(const VarlenProblem& problem, const ForwardResults& results);
void validate(const VarlenProblem& problem, const BackwardInputs& inputs, const BackwardResults& results);

}  // namespace straddle::kernel
