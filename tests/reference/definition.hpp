// Attention, its gradients and the condition scales word for word as docs/math.md defines them: loops over
// documents, heads, visible pairs and dimensions, in long double. The backward uses Delta = <dO, O>, which
// the oracle does not.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "case.hpp"

namespace straddle::reference {

class Definition {
 public:
  explicit Definition(const Case& c)
      : results(tensors_of(c.shape, 0)),
        scales{tensors_of(c.shape, 0), tensors_of(c.shape, 0), Values(c.documents.size(), 0)},
        c_(c) {
    std::ranges::fill(results.lse, -kInfinity);
    for (std::size_t document = 0; document < c.documents.size(); ++document) {
      for (std::int64_t head = 0; head < c.shape.heads; ++head) {
        const auto [start, length] = c.documents[document];
        for (std::int64_t query = start; query < start + length; ++query) {
          add_query(document, head, query);
        }
      }
    }
  }

  Tensors results;
  Scales scales;

 private:
  using Real = long double;

  static std::size_t at(std::int64_t token, std::int64_t heads, std::int64_t head, std::int64_t dim,
                        std::int64_t d) {
    return static_cast<std::size_t>((token * heads + head) * dim + d);
  }
  std::size_t at_q(std::int64_t i, std::int64_t h, std::int64_t d) const {
    return at(i, c_.shape.heads, h, c_.shape.head_dim, d);
  }
  std::size_t at_o(std::int64_t i, std::int64_t h, std::int64_t d) const {
    return at(i, c_.shape.heads, h, c_.shape.v_head_dim, d);
  }
  std::size_t at_k(std::int64_t j, std::int64_t h, std::int64_t d) const {
    return at(j, c_.shape.kv_heads, h / c_.group(), c_.shape.head_dim, d);
  }
  std::size_t at_v(std::int64_t j, std::int64_t h, std::int64_t d) const {
    return at(j, c_.shape.kv_heads, h / c_.group(), c_.shape.v_head_dim, d);
  }

  // P_ij of the visible keys of one row, and LSE_i; takes the row's logits into A.
  std::vector<Real> weights(std::size_t document, std::int64_t h, std::int64_t i) {
    const std::int64_t start = c_.documents[document].start;
    std::vector<Real> logits;
    for (std::int64_t j = start; j <= i; ++j) {
      Real s = 0, squares = 0;
      for (std::int64_t d = 0; d < c_.shape.head_dim; ++d) {
        const Real product = Real{c_.q[at_q(i, h, d)]} * c_.k[at_k(j, h, d)];
        s += product;
        squares += product * product;
      }
      logits.push_back(c_.shape.softmax_scale * s);
      double& largest = scales.largest_logit[document];
      largest = std::max({largest, static_cast<double>(std::abs(logits.back())),
                          static_cast<double>(std::abs(c_.shape.softmax_scale) * std::sqrt(squares))});
    }
    const Real top = *std::ranges::max_element(logits);
    Real sum = 0;
    for (const Real s : logits) sum += std::exp(s - top);
    const Real lse = top + std::log(sum);
    results.lse[at(i, c_.shape.heads, h, 1, 0)] = static_cast<double>(lse);
    for (Real& s : logits) s = std::exp(s - lse);
    return logits;
  }

  void add_query(std::size_t document, std::int64_t h, std::int64_t i) {
    const std::int64_t start = c_.documents[document].start;
    const Real sc = c_.shape.softmax_scale, abs_sc = std::abs(sc);
    const std::vector<Real> p = weights(document, h, i);
    const auto p_of = [&](std::int64_t j) { return p[static_cast<std::size_t>(j - start)]; };
    const Real d_lse = c_.d_lse.empty() ? 0 : c_.d_lse[at(i, c_.shape.heads, h, 1, 0)];

    Real delta = 0, abs_delta = 0;
    for (std::int64_t d = 0; d < c_.shape.v_head_dim; ++d) {
      Real out = 0, sigma = 0, tau = 0;
      for (std::int64_t j = start; j <= i; ++j) {
        const Real v = c_.v[at_v(j, h, d)];
        out += p_of(j) * v;
        sigma += p_of(j) * std::abs(v);
        tau += std::abs(v);
      }
      const Real d_out = c_.d_out[at_o(i, h, d)];
      delta += d_out * out;
      abs_delta += std::abs(d_out * out);
      results.out[at_o(i, h, d)] = static_cast<double>(out);
      scales.sigma.out[at_o(i, h, d)] = static_cast<double>(sigma);
      scales.tau.out[at_o(i, h, d)] = static_cast<double>(tau);
    }

    for (std::int64_t j = start; j <= i; ++j) {
      Real dp = 0, m = abs_delta + std::abs(d_lse);
      for (std::int64_t d = 0; d < c_.shape.v_head_dim; ++d) {
        const Real d_out = c_.d_out[at_o(i, h, d)], v = c_.v[at_v(j, h, d)];
        dp += d_out * v;
        m += std::abs(d_out * v);
        add(&Tensors::d_v, at_v(j, h, d), p_of(j) * d_out, p_of(j) * std::abs(d_out), std::abs(d_out));
      }
      const Real ds = p_of(j) * (dp - delta + d_lse);
      for (std::int64_t d = 0; d < c_.shape.head_dim; ++d) {
        const Real q = c_.q[at_q(i, h, d)], k = c_.k[at_k(j, h, d)];
        add(&Tensors::d_q, at_q(i, h, d), sc * ds * k, abs_sc * p_of(j) * m * std::abs(k),
            abs_sc * m * std::abs(k));
        add(&Tensors::d_k, at_k(j, h, d), sc * ds * q, abs_sc * p_of(j) * m * std::abs(q),
            abs_sc * m * std::abs(q));
      }
    }
  }

  void add(Values Tensors::*tensor, std::size_t element, Real value, Real sigma, Real tau) {
    (results.*tensor)[element] += static_cast<double>(value);
    (scales.sigma.*tensor)[element] += static_cast<double>(sigma);
    (scales.tau.*tensor)[element] += static_cast<double>(tau);
  }

  const Case& c_;
};

}  // namespace straddle::reference
