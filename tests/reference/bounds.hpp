// The bounds of docs/math.md, "How a case is judged", for results that were not rounded to 16 bit (u_s = 0).
#pragma once

#include <algorithm>
#include <cmath>

#include "case.hpp"

namespace straddle::reference {

struct Precision {
  double u;
  double eta = 0x1p-126;
};
inline constexpr Precision kFloat{0x1p-24};
inline constexpr Precision kDouble{0x1p-53, 0x1p-1022};

// |error| of what allowed grants: 0 of 0 is fine, anything else of 0 is not, and NaN never is.
inline double use(double error, double allowed) {
  if (std::abs(error) == 0) return 0;
  const double used = std::abs(error) / allowed;
  return std::isnan(used) ? kInfinity : used;
}

// One tensor [tokens, heads, dim] of a case, and what its bounds take.
struct Judged {
  const Values &got, &want, &sigma, &tau;
  std::int64_t heads, dim;
  double row_factor;
};

// Squared norms of a row (one token of one head) or of a whole document.
struct Norms {
  double error = 0, want = 0, sigma = 0, eta = 0;
  void operator+=(const Norms& other) {
    error += other.error, want += other.want, sigma += other.sigma, eta += other.eta;
  }
};

// The largest used / allowed of one document's elements, of its rows and of the whole in one tensor; uf = u
// f.
inline double worst_use(const Judged& t, const Document& document, double uf, double eta) {
  double worst = 0;
  std::vector<Norms> rows;
  Norms all;
  for (std::int64_t row = document.start * t.heads; row < (document.start + document.length) * t.heads;
       ++row) {
    Norms norms;
    for (std::int64_t x = row * t.dim; x < (row + 1) * t.dim; ++x) {
      const auto at = static_cast<std::size_t>(x);
      const double error = t.got[at] - t.want[at];
      const double eta_term = t.sigma[at] > 0 ? eta * (4 * t.tau[at] + 1) : 0;
      worst = std::max(worst, use(error, 128 * uf * t.sigma[at] + eta_term));
      norms += {error * error, t.want[at] * t.want[at], t.sigma[at] * t.sigma[at], eta_term * eta_term};
    }
    rows.push_back(norms);
    all += norms;
  }
  const double rms_row = std::sqrt(all.want / static_cast<double>(std::max<std::size_t>(rows.size(), 1)));
  for (const Norms& row : rows) {
    const double allowed =
        t.row_factor * uf * (std::sqrt(row.want) + rms_row) + 4 * uf * std::sqrt(row.sigma);
    worst = std::max(worst, use(std::sqrt(row.error), allowed + std::sqrt(row.eta)));
  }
  const double allowed = 32 * uf * std::sqrt(all.want) + uf * std::sqrt(all.sigma) + std::sqrt(all.eta);
  return std::max(worst, use(std::sqrt(all.error), allowed));
}

// The largest used / allowed over all documents and tensors of a case.
inline double worst_use(const Case& c, const Tensors& got, const Tensors& want, const Scales& scales,
                        const Precision& p) {
  double worst = 0;
  const Shape& s = c.shape;
  for (std::size_t d = 0; d < c.documents.size(); ++d) {
    const Document& document = c.documents[d];
    const double f = 1 + scales.largest_logit[d] / 8;
    const auto judge = [&](Values Tensors::*t, std::int64_t heads, std::int64_t dim, double row_factor) {
      const Judged judged{got.*t, want.*t, scales.sigma.*t, scales.tau.*t, heads, dim, row_factor};
      worst = std::max(worst, worst_use(judged, document, p.u * f, p.eta));
    };
    judge(&Tensors::out, s.heads, s.v_head_dim, 64);
    judge(&Tensors::d_q, s.heads, s.head_dim, 128);
    judge(&Tensors::d_k, s.kv_heads, s.head_dim, 64);
    judge(&Tensors::d_v, s.kv_heads, s.v_head_dim, 64);
    for (std::int64_t x = document.start * s.heads; x < (document.start + document.length) * s.heads; ++x) {
      const auto at = static_cast<std::size_t>(x);
      worst = std::max(worst, use(got.lse[at] - want.lse[at], 128 * p.u * f));
    }
  }
  return worst;
}

}  // namespace straddle::reference
