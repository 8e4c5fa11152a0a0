// The oracle: block-causal packed attention and its gradients, whole rows at a time. Sees the standard
// library and Eigen only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace straddle::reference {

// Rows of one document: [start, start + length) of every tensor.
struct Document {
  std::int64_t start;
  std::int64_t length;  // may be 0
};

struct Shape {
  std::int64_t tokens = 0;  // rows of every tensor, padding included
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t v_head_dim = 1;
  double softmax_scale = 1;
};

// Token-major and contiguous: q [tokens, heads, head_dim], k [tokens, kv_heads, head_dim], v [tokens,
// kv_heads, v_head_dim], d_out [tokens, heads, v_head_dim], d_lse [tokens, heads] or empty (= 0). Rows of no
// document are never read.
template <class Scalar>
struct Inputs {
  std::span<const Scalar> q, k, v, d_out, d_lse;
};

// out as d_out, lse as d_lse, d_q as q, d_k as k, d_v as v.
template <class Scalar>
struct Results {
  std::span<Scalar> out, lse, d_q, d_k, d_v;
};

// What the bounds of a comparison scale with (docs/math.md, "How a case is judged"); double, laid out as the
// results are.
//   sigma_out_id = sum_j P_ij |v_jd|          sigma_d_q_id = |sc| sum_j M_ij |k_jd|
//   sigma_d_v_jd = sum_i P_ij |dO_id|         sigma_d_k_jd = |sc| sum_i M_ij |q_id|
//   M_ij = P_ij (sum_d |dO_id v_jd| + sum_d |dO_id O_id| + |dLSE_i|)
// tau_*: the same sums without P. Sums for d_k, d_v also run over the query heads of the group.
struct Condition {
  std::span<double> sigma_out, sigma_d_q, sigma_d_k, sigma_d_v;
  std::span<double> tau_out, tau_d_q, tau_d_k, tau_d_v;
};

// One document and one kv head with its group of query heads: the unit of work that ranks share. Writes that
// document's rows of those heads in every tensor and nothing else. A row's results depend on what it sees
// alone: a NaN in a later token reaches out, lse and d_q of no earlier row, one in an earlier query d_k and
// d_v of no later key. Condition is computed in double whatever Scalar is, and only if asked for. Returns A,
// the largest max(|s_ij|, |sc| sqrt(sum_d (q_id k_jd)^2)) over the visible pairs of these heads, NaN left out
// (0 without condition). O(length^2) time, 2.6 times as much with condition (4 in float); memory O(block x
// length). Throws std::invalid_argument naming tensor or document, what was expected and what was seen.
template <class Scalar>
double attend(const Shape& shape, const Document& document, std::int64_t kv_head,
              const Inputs<Scalar>& inputs, const Results<Scalar>& results,
              const Condition* condition = nullptr);

// All documents and heads, and out = 0, lse = -inf, gradients 0 on rows of no document. Throws as attend
// does, and where two documents hold the same row.
template <class Scalar>
void attend_all(const Shape& shape, std::span<const Document> documents, const Inputs<Scalar>& inputs,
                const Results<Scalar>& results);

extern template double attend<double>(const Shape&, const Document&, std::int64_t, const Inputs<double>&,
                                      const Results<double>&, const Condition*);
extern template double attend<float>(const Shape&, const Document&, std::int64_t, const Inputs<float>&,
                                     const Results<float>&, const Condition*);
extern template void attend_all<double>(const Shape&, std::span<const Document>, const Inputs<double>&,
                                        const Results<double>&);
extern template void attend_all<float>(const Shape&, std::span<const Document>, const Inputs<float>&,
                                       const Results<float>&);

}  // namespace straddle::reference
