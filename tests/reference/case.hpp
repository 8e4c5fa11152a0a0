// A pack with its inputs, and what the oracle makes of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "reference/attention.hpp"

namespace straddle::reference {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

// Input values are double; the float oracle gets them rounded.
struct Case {
  Shape shape;
  std::vector<Document> documents;
  Values q, k, v, d_out, d_lse;  // d_lse may be empty

  [[nodiscard]] std::int64_t group() const { return shape.heads / shape.kv_heads; }
  [[nodiscard]] bool real(std::int64_t row) const {
    return std::ranges::any_of(documents,
                               [&](const Document& d) { return d.start <= row && row < d.start + d.length; });
  }
};

inline std::size_t count(std::int64_t tokens, std::int64_t heads, std::int64_t dim) {
  return static_cast<std::size_t>(tokens * heads * dim);
}

inline Values normal(std::size_t size, std::mt19937_64& random, double mean = 0, double deviation = 1) {
  std::normal_distribution<double> distribution(mean, deviation);
  Values values(size);
  for (double& value : values) value = distribution(random);
  return values;
}

// Standard normal inputs, with d_lse.
inline Case random_case(const Shape& shape, std::vector<Document> documents, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto [tokens, heads, kv_heads, head_dim, v_head_dim, scale] = shape;
  return {.shape = shape,
          .documents = std::move(documents),
          .q = normal(count(tokens, heads, head_dim), random),
          .k = normal(count(tokens, kv_heads, head_dim), random),
          .v = normal(count(tokens, kv_heads, v_head_dim), random),
          .d_out = normal(count(tokens, heads, v_head_dim), random),
          .d_lse = normal(count(tokens, heads, 1), random)};
}

// Documents laid end to end from row 0.
inline std::vector<Document> end_to_end(const std::vector<std::int64_t>& lengths) {
  std::vector<Document> documents;
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    documents.push_back({start, length});
    start += length;
  }
  return documents;
}

struct Tensors {
  Values out, lse, d_q, d_k, d_v;
};

// sigma and tau of each tensor (lse has none), and A of each document.
struct Scales {
  Tensors sigma, tau;
  Values largest_logit;
};

// Every element `value`, laid out as the results of a case are.
inline Tensors tensors_of(const Shape& s, double value) {
  return {Values(count(s.tokens, s.heads, s.v_head_dim), value), Values(count(s.tokens, s.heads, 1), value),
          Values(count(s.tokens, s.heads, s.head_dim), value),
          Values(count(s.tokens, s.kv_heads, s.head_dim), value),
          Values(count(s.tokens, s.kv_heads, s.v_head_dim), value)};
}

// attend_all on buffers that hold NaN before.
template <class Scalar>
Tensors attend_all(const Case& c) {
  const auto as = [](const Values& values) { return std::vector<Scalar>(values.begin(), values.end()); };
  const std::vector<Scalar> q = as(c.q), k = as(c.k), v = as(c.v), d_out = as(c.d_out), d_lse = as(c.d_lse);
  const Tensors poison = tensors_of(c.shape, kNaN);
  std::vector<Scalar> out = as(poison.out), lse = as(poison.lse), d_q = as(poison.d_q), d_k = as(poison.d_k),
                      d_v = as(poison.d_v);
  attend_all<Scalar>(c.shape, c.documents, {q, k, v, d_out, d_lse}, {out, lse, d_q, d_k, d_v});
  const auto widened = [](const std::vector<Scalar>& values) { return Values(values.begin(), values.end()); };
  return {widened(out), widened(lse), widened(d_q), widened(d_k), widened(d_v)};
}

// The condition of every document and head, from the oracle of Scalar; NaN on rows of no document.
template <class Scalar>
Scales condition_of(const Case& c) {
  const auto as = [](const Values& values) { return std::vector<Scalar>(values.begin(), values.end()); };
  const std::vector<Scalar> q = as(c.q), k = as(c.k), v = as(c.v), d_out = as(c.d_out), d_lse = as(c.d_lse);
  std::vector<Scalar> out(d_out.size()), lse(count(c.shape.tokens, c.shape.heads, 1)), d_q(q.size()),
      d_k(k.size()), d_v(v.size());
  Scales scales{tensors_of(c.shape, kNaN), tensors_of(c.shape, kNaN), {}};
  const Condition condition{scales.sigma.out, scales.sigma.d_q, scales.sigma.d_k, scales.sigma.d_v,
                            scales.tau.out,   scales.tau.d_q,   scales.tau.d_k,   scales.tau.d_v};
  for (const Document& document : c.documents) {
    double largest = 0;
    for (std::int64_t kv_head = 0; kv_head < c.shape.kv_heads; ++kv_head) {
      largest = std::max(largest, attend<Scalar>(c.shape, document, kv_head, {q, k, v, d_out, d_lse},
                                                 {out, lse, d_q, d_k, d_v}, &condition));
    }
    scales.largest_logit.push_back(largest);
  }
  return scales;
}

}  // namespace straddle::reference
