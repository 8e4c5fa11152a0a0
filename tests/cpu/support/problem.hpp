// Varlen problems for tests: owned tensors, made from a seed or by hand, and what a kernel makes of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"
#include "tensor/tensor.hpp"

namespace straddle::cpu::test {

struct Sizes {
  std::int64_t heads = 2;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 4;
  std::int64_t v_head_dim = 4;
};

using Offsets = std::vector<std::int32_t>;

struct Problem {
  tensor::DType dtype = tensor::DType::fp32;
  Sizes sizes;
  Offsets cu_seqlens_q, cu_seqlens_k;
  double softmax_scale = 1;
  tensor::Tensor q, k, v, d_out;
  tensor::Tensor d_lse;  // empty: none

  [[nodiscard]] kernel::VarlenProblem varlen() const;
  [[nodiscard]] std::int64_t tokens_q() const { return q.shape().size(tensor::Axis::token); }
  [[nodiscard]] std::int64_t tokens_k() const { return k.shape().size(tensor::Axis::token); }
};

// Factors and offsets of normally distributed values.
struct Spread {
  double q = 1, k = 1, v = 1, d_out = 1;
  double k_common = 0;  // the same vector times this is added to every key
  double v_mean = 0, d_out_mean = 0;
};

struct Options {
  tensor::DType dtype = tensor::DType::fp32;
  std::int64_t padding = 0;  // rows of NaN behind the last segment, of queries and of keys
  bool d_lse = true;
  Spread spread = {};
  std::uint64_t seed = 1;
};

// Random values rounded to the dtype; softmax_scale is head_dim^-1/2.
[[nodiscard]] Problem random_problem(const Sizes& sizes, const Offsets& cu_seqlens_q,
                                     const Offsets& cu_seqlens_k, const Options& options = {});
// Documents laid end to end: cu_seqlens_q = cu_seqlens_k.
[[nodiscard]] Offsets offsets_of(const std::vector<std::int32_t>& lengths);

// Rows [q_begin, q_end) against keys [k_begin, k_end) of `whole` as a problem of one segment.
[[nodiscard]] Problem cut(const Problem& whole, std::int64_t q_begin, std::int64_t q_end,
                          std::int64_t k_begin, std::int64_t k_end);

struct Outcome {
  tensor::Tensor out, lse, d_q, d_k, d_v;
};

// Forward and backward into buffers of NaN.
[[nodiscard]] Outcome run(kernel::Kernel& kernel, const Problem& problem);

[[nodiscard]] std::vector<double> values_of(const tensor::Tensor& tensor);
[[nodiscard]] tensor::Tensor tensor_of(tensor::DType dtype, const tensor::Shape& shape,
                                       const std::vector<double>& values);

// Empty where rows [a_begin, a_begin + rows) of a and [b_begin, ..) of b have the same bits, else the name
// and the first row that differs.
[[nodiscard]] std::string different_rows(const std::string& name, const tensor::Tensor& a,
                                         std::int64_t a_begin, const tensor::Tensor& b, std::int64_t b_begin,
                                         std::int64_t rows);

}  // namespace straddle::cpu::test
