// What backward reads and writes, and the rows that nothing is computed for.
#pragma once

#include <limits>
#include <optional>

#include "cpu/problem.hpp"

namespace straddle::cpu {

template <class T>
struct Gradients {
  Gradients(const kernel::BackwardInputs& inputs, const kernel::BackwardResults& results)
      : out(inputs.out),
        d_out(inputs.d_out),
        lse(inputs.lse),
        d_q(results.d_q),
        d_k(results.d_k),
        d_v(results.d_v) {
    if (inputs.d_lse) d_lse.emplace(*inputs.d_lse);
  }

  RowReader<T> out, d_out;
  RowValues<const T> lse;
  std::optional<RowValues<const T>> d_lse;
  RowWriter<T> d_q, d_k, d_v;
};

// out = 0 and lse = -inf where a row sees no key.
template <class T>
void write_blind_rows(const Problem<T>& problem, const RowWriter<T>& out, const RowValues<T>& lse) {
  for_each_blind_query(problem, [&](std::int64_t token) {
    for (std::int64_t head = 0; head < problem.heads; ++head) {
      out.write_zeros(token, head);
      lse.at(token, head) = -std::numeric_limits<T>::infinity();
    }
  });
}

// d_q = 0 where a row sees no key.
template <class T>
void write_blind_rows(const Problem<T>& problem, const RowWriter<T>& d_q) {
  for_each_blind_query(problem, [&](std::int64_t token) {
    for (std::int64_t head = 0; head < problem.heads; ++head) d_q.write_zeros(token, head);
  });
}

// d_k = d_v = 0 where no query sees a key.
template <class T>
void write_unseen_rows(const Problem<T>& problem, const RowWriter<T>& d_k, const RowWriter<T>& d_v) {
  for_each_unseen_key(problem, [&](std::int64_t token) {
    for (std::int64_t head = 0; head < problem.kv_heads; ++head) {
      d_k.write_zeros(token, head);
      d_v.write_zeros(token, head);
    }
  });
}

}  // namespace straddle::cpu
