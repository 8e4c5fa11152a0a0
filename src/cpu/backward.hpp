// Backward of the blockwise kernel: P is computed again from the stored LSE (Dao et al. 2022, algorithm 4).
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/buffer.hpp"
#include "cpu/problem.hpp"
#include "kernel/kernel.hpp"

namespace straddle::cpu {

// One thread's scratch for one (segment, kv head) and one query tile of it.
template <class T>
struct BackwardWorkspace {
  Buffer<T> keys_transposed;    // panels of K^T [head_dim, keys]
  Buffer<T> keys;               // panels of K [keys, head_dim]
  Buffer<T> values_transposed;  // panels of V^T [v_head_dim, keys]
  Buffer<T> d_keys;             // [keys, head_dim padded]
  Buffer<T> d_values;           // [keys, v_head_dim padded]
  Buffer<T> stage;              // rows on their way into panels, and a row of out

  Buffer<T> queries;        // [rows, head_dim], times softmax_scale
  Buffer<T> query_panels;   // the same as panels
  Buffer<T> d_out;          // [rows, v_head_dim padded]
  Buffer<T> d_out_panels;   // the same as panels
  Buffer<T> d_queries;      // [rows, head_dim padded], not yet times softmax_scale
  Buffer<T> lse;            // [rows]; +inf where the row gives nothing
  Buffer<T> offset;         // [rows] Delta - dLSE
  Buffer<T> probabilities;  // [rows, kLogitStride], one tile of keys: S, then P
  Buffer<T> d_logits;       // [rows, kLogitStride], dO V^T, then dS
};

template <class T>
class Backward {
 public:
  // The problem has been validated.
  void run(const kernel::VarlenProblem& problem, const kernel::BackwardInputs& inputs,
           const kernel::BackwardResults& results, int threads);

 private:
  std::vector<std::int64_t> order_;
  std::vector<BackwardWorkspace<T>> workspaces_;  // one a thread
};

extern template class Backward<float>;
extern template class Backward<double>;

}  // namespace straddle::cpu
