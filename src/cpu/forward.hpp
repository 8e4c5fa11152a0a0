// Forward of the blockwise kernel: online softmax over tiles of keys (Milakov and Gimelshein 2018; Dao et al.
// 2022, algorithm 1).
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/buffer.hpp"
#include "cpu/problem.hpp"
#include "kernel/kernel.hpp"

namespace straddle::cpu {

// One thread's scratch. K and V of the last (segment, kv head) stay packed for its next query tile.
template <class T>
struct ForwardWorkspace {
  std::int64_t packed_segment = -1, packed_head = -1;
  Buffer<T> keys;     // panels of K^T [head_dim, keys]
  Buffer<T> values;   // panels of V [keys, v_head_dim]
  Buffer<T> stage;    // rows on their way into panels
  Buffer<T> queries;  // [rows, head_dim], times softmax_scale
  Buffer<T> logits;   // [rows, kLogitStride], one tile of keys; then P
  Buffer<T> out;      // [rows, v_head_dim padded], not yet divided by row_sum
  Buffer<T> row_max;  // [rows]
  Buffer<T> row_sum;  // [rows]
};

template <class T>
class Forward {
 public:
  // The problem has been validated.
  void run(const kernel::VarlenProblem& problem, const kernel::ForwardResults& results, int threads);

 private:
  struct Task {
    std::int64_t segment, kv_head, first_query;
  };
  void plan(const Problem<T>& problem);

  std::vector<std::int64_t> order_;
  std::vector<Task> tasks_;
  std::vector<ForwardWorkspace<T>> workspaces_;  // one a thread
};

extern template class Forward<float>;
extern template class Forward<double>;

}  // namespace straddle::cpu
