// Attention over segments word for word from its definition, in long double, and the bounds a kernel is held
// to.
#pragma once

#include <string>
#include <vector>

#include "support/problem.hpp"

namespace straddle::cpu::test {

// An element's exact value and what its bound scales with (docs/math.md): sigma, tau and f of its segment.
struct Element {
  long double value = 0;
  long double sigma = 0;
  long double tau = 0;
  long double f = 1;
};

// Laid out as the tensors are.
struct Expected {
  std::vector<Element> out, lse, d_q, d_k, d_v;
};

// s_ij = sc <q_i, k_j> over j <= i + keys - queries of the segment, LSE, P, O; Delta_i = <dO_i, O_i>,
// dS_ij = P_ij (<dO_i, v_j> - Delta_i + dLSE_i), dQ, dK, dV. Rows of no segment and rows without keys: 0, LSE
// -inf.
[[nodiscard]] Expected define(const Problem& problem);

// The largest share of its bound that an element uses; `where` names it. NaN and a nonzero for sigma = 0 use
// infinitely much.
struct Worst {
  long double used = 0;
  std::string where;
};

// |err| <= (128 u f + n u_s) sigma + eta (4 tau + [sigma > 0]); n counts the roundings to storage that these
// kernels do: out 1, d_q 2 (out in Delta, result), d_k 1 (out in Delta), d_v 0. LSE: |err| <= 128 u f.
[[nodiscard]] Worst worst_of(const Problem& problem, const Expected& expected, const Outcome& outcome);

}  // namespace straddle::cpu::test
