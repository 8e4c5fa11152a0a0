// A varlen problem as the CPU kernels walk it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cpu/rows.hpp"
#include "cpu/tiles.hpp"
#include "kernel/kernel.hpp"

namespace straddle::cpu {

template <class T>
struct Problem {
  explicit Problem(const kernel::VarlenProblem& problem)
      : q(problem.q),
        k(problem.k),
        v(problem.v),
        cu_seqlens_q(problem.cu_seqlens_q),
        cu_seqlens_k(problem.cu_seqlens_k),
        queries(problem.q.size(tensor::Axis::token)),
        keys(problem.k.size(tensor::Axis::token)),
        heads(problem.q.size(tensor::Axis::head)),
        kv_heads(problem.k.size(tensor::Axis::head)),
        group(heads / kv_heads),
        longest_keys(problem.max_seqlen_k),
        scale(static_cast<T>(problem.softmax_scale)) {}

  [[nodiscard]] std::int64_t segments() const { return static_cast<std::int64_t>(cu_seqlens_q.size()) - 1; }
  [[nodiscard]] Segment segment(std::int64_t index) const {
    return segment_of(cu_seqlens_q, cu_seqlens_k, static_cast<std::size_t>(index));
  }

  RowReader<T> q, k, v;
  std::span<const std::int32_t> cu_seqlens_q, cu_seqlens_k;
  std::int64_t queries, keys;  // rows of q; of k and v
  std::int64_t heads, kv_heads, group;
  std::int64_t longest_keys;
  T scale;
};

// Calls visit(token) for each row of q that sees no key: of no segment, of one without keys, or before its
// first key.
template <class T, class Visit>
void for_each_blind_query(const Problem<T>& problem, const Visit& visit) {
  for (std::int64_t i = 0; i < problem.segments(); ++i) {
    const Segment segment = problem.segment(i);
    for (std::int64_t query = 0; query < segment.first_query(); ++query) visit(segment.q_begin + query);
  }
  for (std::int64_t token = problem.cu_seqlens_q.back(); token < problem.queries; ++token) visit(token);
}

// Calls visit(token) for each row of k that no query sees: of no segment, or of one without queries (the last
// query of a segment sees all its keys).
template <class T, class Visit>
void for_each_unseen_key(const Problem<T>& problem, const Visit& visit) {
  for (std::int64_t i = 0; i < problem.segments(); ++i) {
    const Segment segment = problem.segment(i);
    if (segment.queries > 0) continue;
    for (std::int64_t key = 0; key < segment.keys; ++key) visit(segment.k_begin + key);
  }
  for (std::int64_t token = problem.cu_seqlens_k.back(); token < problem.keys; ++token) visit(token);
}

// The segments with something to compute, costliest first, into `order`.
template <class T>
void order_by_cost(const Problem<T>& problem, std::vector<std::int64_t>& order) {
  order.clear();
  for (std::int64_t i = 0; i < problem.segments(); ++i) {
    if (problem.segment(i).pairs() > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const std::int64_t cost_a = problem.segment(a).pairs(), cost_b = problem.segment(b).pairs();
    return cost_a != cost_b ? cost_a > cost_b : a < b;
  });
}

}  // namespace straddle::cpu
