// The two sides of the invariants of one document and one kv head, and the magnitudes that bound them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/judge/judge.hpp"
#include "harness/judge/row_reader.hpp"

namespace straddle::harness {

// Inputs and results of one layer as rows. d_lse is null where the case has none.
struct LayerRows {
  LayerRows(const std::map<std::string, tensor::Tensor>& inputs, bool with_d_lse,
            const LayerResults& results);

  RowReader q, k, v, d_out;
  std::vector<RowReader> d_lse;  // one or none
  RowReader out, lse, d_q, d_k, d_v;
};

// A sum over a document is accumulated wider than the terms, so that its own rounding is no part of what is
// judged.
using Sum = long double;

// Sums over the rows i (queries) and j (keys) of one document and, for query rows, the heads of one group.
// t_i is a row's 1-based position in its document, i.e. how many keys it sees; vmax_id = max_{j <= i} |v_jd|,
// kmax likewise.
//
// No P is at hand, and none is needed: a row of P sums to 1, so sum_j P_ij |v_jd| <= vmax_id and
//   sum_j M_ij = sum_j P_ij (sum_d |dO_id v_jd| + sum_d |dO_id O_id| + |dLSE_i|) <= m_i
//   m_i        = 2 sum_d |dO_id| vmax_id + |dLSE_i|
// The members called *_tau are the same sums with each row times t_i: they bound the sums of tau, where P is
// left out.
struct Magnitudes {
  double largest_logit = 0;  // sc max_i ||q_i|| max_j ||k_j|| >= A (Cauchy-Schwarz, both forms of A)
  std::int64_t keys = 0;     // rows of the document

  // I2, [head_dim]: sum_j dK_jd; sum_j |dK_jd|; sc sum_i dLSE_i q_id; sc sum_i |q_id| m_i >= sum_j
  // sigma_d_k_jd
  std::vector<Sum> d_k, d_k_size, d_lse_q, d_k_sigma, d_k_tau;
  // I3, [v_head_dim]: sum_j dV_jd; sum_i dO_id; sum_i |dO_id| = sum_j sigma_d_v_jd
  std::vector<Sum> d_v, d_out, d_v_sigma, d_v_tau;
  // I4: sum <q, dQ>; sum <k, dK>; sc sum_i m_i sum_d |q_id| kmax_id >= sum |q| sigma_d_q, sum |k| sigma_d_k
  // and sum |q dQ| + sum |k dK|
  Sum q_d_q = 0, k_d_k = 0, qk_sigma = 0, qk_tau = 0, q_size = 0, k_size = 0, qk_results = 0;
  // I5: sum <v, dV>; sum <O, dO>; sum_i sum_d |dO_id| vmax_id >= sum |v| sigma_d_v, sum |dO| sigma_out
  // and sum |v dV| + sum |O dO|
  Sum v_d_v = 0, out_d_out = 0, vo_sigma = 0, vo_tau = 0, v_size = 0, d_out_size = 0, vo_results = 0;
};

[[nodiscard]] Magnitudes measure_magnitudes(const Case& point, const pack::Document& document,
                                            std::int64_t kv_head, LayerRows& rows);

}  // namespace straddle::harness
