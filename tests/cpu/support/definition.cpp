#include "support/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace straddle::cpu::test {
namespace {

using Real = long double;
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

struct Matrix {
  std::vector<double> values;
  std::int64_t heads, dim;
  [[nodiscard]] Real at(std::int64_t token, std::int64_t head, std::int64_t d) const {
    return values[index(token, head, d)];
  }
  [[nodiscard]] std::size_t index(std::int64_t token, std::int64_t head, std::int64_t d) const {
    return static_cast<std::size_t>((token * heads + head) * dim + d);
  }
};

struct Inputs {
  explicit Inputs(const Problem& p)
      : q{values_of(p.q), p.sizes.heads, p.sizes.head_dim},
        k{values_of(p.k), p.sizes.kv_heads, p.sizes.head_dim},
        v{values_of(p.v), p.sizes.kv_heads, p.sizes.v_head_dim},
        d_out{values_of(p.d_out), p.sizes.heads, p.sizes.v_head_dim},
        d_lse{p.d_lse.empty() ? std::vector<double>(static_cast<std::size_t>(p.tokens_q() * p.sizes.heads))
                              : values_of(p.d_lse),
              p.sizes.heads, 1} {}
  Matrix q, k, v, d_out, d_lse;
};

// One query head of one query token: everything it sees, and what it gives.
class Row {
 public:
  Row(const Problem& problem, const Inputs& in, Expected& expected, std::int64_t token, std::int64_t head,
      std::int64_t key_begin, std::int64_t keys)
      : problem_(problem),
        in_(in),
        expected_(expected),
        token_(token),
        head_(head),
        kv_head_(head / (problem.sizes.heads / problem.sizes.kv_heads)),
        key_begin_(key_begin),
        p_(static_cast<std::size_t>(keys)) {}

  // Returns the largest of |s_ij| and sc sqrt(sum_d (q_id k_jd)^2).
  Real softmax() {
    Real maximum = -kInfinity, size = 0;
    for (std::size_t j = 0; j < p_.size(); ++j) {
      Real dot = 0, squares = 0;
      for (std::int64_t d = 0; d < problem_.sizes.head_dim; ++d) {
        const Real product = in_.q.at(token_, head_, d) * in_.k.at(key(j), kv_head_, d);
        dot += product;
        squares += product * product;
      }
      p_[j] = problem_.softmax_scale * dot;
      maximum = std::max(maximum, p_[j]);
      size = std::max({size, std::fabs(p_[j]), std::fabs(problem_.softmax_scale) * std::sqrt(squares)});
    }
    Real sum = 0;
    for (const Real s : p_) sum += std::exp(s - maximum);
    const Real lse = maximum + std::log(sum);
    expected_.lse[in_.d_lse.index(token_, head_, 0)].value = lse;
    for (Real& s : p_) s = std::exp(s - lse);
    for (std::int64_t d = 0; d < problem_.sizes.v_head_dim; ++d) {
      Element& out = expected_.out[in_.d_out.index(token_, head_, d)];
      for (std::size_t j = 0; j < p_.size(); ++j) {
        const Real value = in_.v.at(key(j), kv_head_, d);
        add(out, p_[j] * value, p_[j] * std::fabs(value), std::fabs(value));
      }
    }
    return size;
  }

  void differentiate() {
    Real delta = 0, delta_size = 0;
    for (std::int64_t d = 0; d < problem_.sizes.v_head_dim; ++d) {
      const Real product =
          in_.d_out.at(token_, head_, d) * expected_.out[in_.d_out.index(token_, head_, d)].value;
      delta += product;
      delta_size += std::fabs(product);
    }
    const Real d_lse = in_.d_lse.at(token_, head_, 0);
    for (std::size_t j = 0; j < p_.size(); ++j) {
      Real d_p = 0, d_p_size = 0;
      for (std::int64_t d = 0; d < problem_.sizes.v_head_dim; ++d) {
        const Real d_out = in_.d_out.at(token_, head_, d);
        d_p += d_out * in_.v.at(key(j), kv_head_, d);
        d_p_size += std::fabs(d_out * in_.v.at(key(j), kv_head_, d));
        add(expected_.d_v[in_.v.index(key(j), kv_head_, d)], p_[j] * d_out, p_[j] * std::fabs(d_out),
            std::fabs(d_out));
      }
      const Real without_p = d_p_size + delta_size + std::fabs(d_lse);
      give(j, p_[j] * (d_p - delta + d_lse), p_[j] * without_p, without_p);
    }
  }

 private:
  [[nodiscard]] std::int64_t key(std::size_t j) const { return key_begin_ + static_cast<std::int64_t>(j); }

  static void add(Element& to, Real value, Real sigma, Real tau) {
    to.value += value;
    to.sigma += sigma;
    to.tau += tau;
  }

  // dS of key j into dQ and dK.
  void give(std::size_t j, Real d_s, Real sigma, Real tau) {
    const Real scale = problem_.softmax_scale;
    for (std::int64_t d = 0; d < problem_.sizes.head_dim; ++d) {
      const Real q = scale * in_.q.at(token_, head_, d), k = scale * in_.k.at(key(j), kv_head_, d);
      add(expected_.d_q[in_.q.index(token_, head_, d)], d_s * k, sigma * std::fabs(k), tau * std::fabs(k));
      add(expected_.d_k[in_.k.index(key(j), kv_head_, d)], d_s * q, sigma * std::fabs(q), tau * std::fabs(q));
    }
  }

  const Problem& problem_;
  const Inputs& in_;
  Expected& expected_;
  std::int64_t token_, head_, kv_head_, key_begin_;
  std::vector<Real> p_;
};

void set_f(std::vector<Element>& elements, std::int64_t row, std::int64_t begin, std::int64_t end, Real f) {
  for (std::int64_t i = begin * row; i < end * row; ++i) elements[static_cast<std::size_t>(i)].f = f;
}

struct Units {
  Real u, u_s, eta;
};

Units units_of(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::fp64:
      return {0x1p-53L, 0, 0x1p-1022L};
    case tensor::DType::bf16:
      return {0x1p-24L, 0x1p-8L, 0x1p-126L};
    case tensor::DType::fp16:
      return {0x1p-24L, 0x1p-11L, 0x1p-25L};
    default:
      return {0x1p-24L, 0, 0x1p-126L};
  }
}

void keep_worst(Worst& worst, Real error, Real bound, const std::string& name, std::size_t index, Real got,
                Real value) {
  const Real used = error == 0 ? 0 : (error <= kInfinity && bound > 0 ? error / bound : kInfinity);
  if (used > worst.used) {
    worst = {used,
             fmt::format("{}[{}] is {}, expected {}, used/allowed {}", name, index, static_cast<double>(got),
                         static_cast<double>(value), static_cast<double>(used))};
  }
}

void judge(Worst& worst, const std::string& name, const std::vector<Element>& expected,
           const std::vector<double>& got, const Units& units, int roundings) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Element& e = expected[i];
    const Real bound = (128 * units.u * e.f + roundings * units.u_s) * e.sigma +
                       units.eta * (4 * e.tau + (e.sigma > 0 ? 1 : 0));
    keep_worst(worst, std::fabs(got[i] - e.value), bound, name, i, got[i], e.value);
  }
}

void judge_lse(Worst& worst, const std::vector<Element>& expected, const std::vector<double>& got,
               const Units& units) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool same = got[i] == expected[i].value;  // -inf
    keep_worst(worst, same ? 0 : std::fabs(got[i] - expected[i].value), 128 * units.u * expected[i].f, "lse",
               i, got[i], expected[i].value);
  }
}

}  // namespace

Expected define(const Problem& problem) {
  const Inputs in(problem);
  Expected expected;
  expected.out.resize(in.d_out.values.size());
  expected.lse.resize(in.d_lse.values.size(), {-kInfinity, 0, 0, 1});
  expected.d_q.resize(in.q.values.size());
  expected.d_k.resize(in.k.values.size());
  expected.d_v.resize(in.v.values.size());
  for (std::size_t t = 0; t + 1 < problem.cu_seqlens_q.size(); ++t) {
    const std::int64_t q_begin = problem.cu_seqlens_q[t], q_end = problem.cu_seqlens_q[t + 1];
    const std::int64_t k_begin = problem.cu_seqlens_k[t], k_end = problem.cu_seqlens_k[t + 1];
    Real size = 0;
    for (std::int64_t token = q_begin; token < q_end; ++token) {
      const std::int64_t keys = token - q_begin + 1 + (k_end - k_begin) - (q_end - q_begin);
      if (keys <= 0) continue;
      for (std::int64_t head = 0; head < problem.sizes.heads; ++head) {
        Row row(problem, in, expected, token, head, k_begin, keys);
        size = std::max(size, row.softmax());
        row.differentiate();
      }
    }
    const Real f = 1 + size / 8;
    const Sizes& s = problem.sizes;
    set_f(expected.out, s.heads * s.v_head_dim, q_begin, q_end, f);
    set_f(expected.lse, s.heads, q_begin, q_end, f);
    set_f(expected.d_q, s.heads * s.head_dim, q_begin, q_end, f);
    set_f(expected.d_k, s.kv_heads * s.head_dim, k_begin, k_end, f);
    set_f(expected.d_v, s.kv_heads * s.v_head_dim, k_begin, k_end, f);
  }
  return expected;
}

Worst worst_of(const Problem& problem, const Expected& expected, const Outcome& outcome) {
  const Units units = units_of(problem.dtype);
  Worst worst;
  judge(worst, "out", expected.out, values_of(outcome.out), units, 1);
  judge_lse(worst, expected.lse, values_of(outcome.lse), units);
  judge(worst, "d_q", expected.d_q, values_of(outcome.d_q), units, 2);
  Units partial = units;
  if (problem.dtype != tensor::DType::fp64) partial.eta = 0x1p-126L;  // d_k and d_v are fp32
  judge(worst, "d_k", expected.d_k, values_of(outcome.d_k), partial, 1);
  judge(worst, "d_v", expected.d_v, values_of(outcome.d_v), partial, 0);
  return worst;
}

}  // namespace straddle::cpu::test
