#include "harness/judge/magnitudes.hpp"

#include <algorithm>
#include <cmath>

namespace straddle::harness {
namespace {

double dot(const double* a, const double* b, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += a[d] * b[d];
  return sum;
}

double absolute_dot(const double* a, const double* b, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += std::abs(a[d]) * b[d];
  return sum;
}

double absolute_sum(const double* a, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += std::abs(a[d]);
  return sum;
}

void raise_to_magnitude(std::vector<double>& largest, const double* row) {
  for (std::size_t d = 0; d < largest.size(); ++d) largest[d] = std::max(largest[d], std::abs(row[d]));
}

// One document and one kv head, key row by key row, each followed by the query rows of the same token.
class Measurer {
 public:
  Measurer(const Case& point, LayerRows& rows)
      : rows_(rows),
        scale_(point.scale()),
        dim_(point.head_dim),
        v_dim_(point.v_head_dim),
        kmax_(static_cast<std::size_t>(dim_), 0),
        vmax_(static_cast<std::size_t>(v_dim_), 0) {
    for (auto* sums : {&sums_.d_k, &sums_.d_lse_q, &sums_.d_k_sigma, &sums_.d_k_tau}) {
      sums->assign(static_cast<std::size_t>(dim_), 0);
    }
    for (auto* sums : {&sums_.d_v, &sums_.d_out, &sums_.d_v_sigma, &sums_.d_v_tau}) {
      sums->assign(static_cast<std::size_t>(v_dim_), 0);
    }
  }

  void add_key(std::int64_t token, std::int64_t kv_head) {
    const double* k = rows_.k.row(token, kv_head);
    const double* v = rows_.v.row(token, kv_head);
    const double* d_k = rows_.d_k.row(token, kv_head);
    const double* d_v = rows_.d_v.row(token, kv_head);
    raise_to_magnitude(kmax_, k);
    raise_to_magnitude(vmax_, v);
    for (std::size_t d = 0; d < kmax_.size(); ++d) sums_.d_k[d] += d_k[d];
    for (std::size_t d = 0; d < vmax_.size(); ++d) sums_.d_v[d] += d_v[d];
    sums_.k_d_k += dot(k, d_k, dim_);
    sums_.v_d_v += dot(v, d_v, v_dim_);
    sums_.k_size += absolute_sum(k, dim_);
    sums_.v_size += absolute_sum(v, v_dim_);
    k_norm_ = std::max(k_norm_, std::sqrt(dot(k, k, dim_)));
    ++sums_.keys;
  }

  void add_query(std::int64_t token, std::int64_t head) {
    const double* q = rows_.q.row(token, head);
    const double* d_out = rows_.d_out.row(token, head);
    const double d_lse = rows_.d_lse.empty() ? 0 : rows_.d_lse[0].row(token, head)[0];
    const auto visible = static_cast<double>(sums_.keys);  // t_i
    const double v_weight = absolute_dot(d_out, vmax_.data(), v_dim_);
    const double m = 2 * v_weight + std::abs(d_lse);
    for (std::size_t d = 0; d < kmax_.size(); ++d) {
      const double sigma = scale_ * std::abs(q[d]) * m;
      sums_.d_lse_q[d] += scale_ * d_lse * q[d];
      sums_.d_k_sigma[d] += sigma;
      sums_.d_k_tau[d] += visible * sigma;
    }
    for (std::size_t d = 0; d < vmax_.size(); ++d) {
      sums_.d_out[d] += d_out[d];
      sums_.d_v_sigma[d] += std::abs(d_out[d]);
      sums_.d_v_tau[d] += visible * std::abs(d_out[d]);
    }
    const double qk = scale_ * m * absolute_dot(q, kmax_.data(), dim_);
    sums_.qk_sigma += qk;
    sums_.qk_tau += visible * qk;
    sums_.vo_sigma += v_weight;
    sums_.vo_tau += visible * v_weight;
    sums_.q_size += absolute_sum(q, dim_);
    sums_.d_out_size += absolute_sum(d_out, v_dim_);
    sums_.q_d_q += dot(q, rows_.d_q.row(token, head), dim_);
    sums_.out_d_out += dot(rows_.out.row(token, head), d_out, v_dim_);
    q_norm_ = std::max(q_norm_, std::sqrt(dot(q, q, dim_)));
  }

  [[nodiscard]] Magnitudes take() {
    sums_.largest_logit = scale_ * q_norm_ * k_norm_;
    return std::move(sums_);
  }

 private:
  LayerRows& rows_;
  double scale_;
  std::int64_t dim_;
  std::int64_t v_dim_;
  std::vector<double> kmax_, vmax_;  // over the keys so far
  double q_norm_ = 0, k_norm_ = 0;
  Magnitudes sums_;
};

}  // namespace

LayerRows::LayerRows(const std::map<std::string, tensor::Tensor>& inputs, bool with_d_lse,
                     const LayerResults& results)
    : q(inputs.at("q").view()),
      k(inputs.at("k").view()),
      v(inputs.at("v").view()),
      d_out(inputs.at("d_out").view()),
      out(results.out.view()),
      lse(results.lse.view()),
      d_q(results.d_q.view()),
      d_k(results.d_k.view()),
      d_v(results.d_v.view()) {
  if (with_d_lse) d_lse.emplace_back(inputs.at("d_lse").view());
}

Magnitudes measure_magnitudes(const Case& point, const pack::Document& document, std::int64_t kv_head,
                              LayerRows& rows) {
  const std::int64_t group = point.heads / point.kv_heads;
  Measurer measurer(point, rows);
  for (std::int64_t token = document.start; token < document.end(); ++token) {
    measurer.add_key(token, kv_head);
    for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      measurer.add_query(token, head);
    }
  }
  return measurer.take();
}

}  // namespace straddle::harness
