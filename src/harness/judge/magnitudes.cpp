#include "harness/judge/magnitudes.hpp"

#include <algorithm>
#include <cmath>

namespace straddle::harness {
namespace {

// sum a b, and sum |a b|.
struct Product {
  double sum = 0;
  double size = 0;
};

Product product(const double* a, const double* b, std::int64_t dim) {
  Product result;
  for (std::int64_t d = 0; d < dim; ++d) {
    result.sum += a[d] * b[d];
    result.size += std::abs(a[d] * b[d]);
  }
  return result;
}

double norm(const double* a, std::int64_t dim) { return std::sqrt(product(a, a, dim).sum); }

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
    for (auto* sums : {&sums_.d_k, &sums_.d_k_size, &sums_.d_lse_q, &sums_.d_k_sigma, &sums_.d_k_tau}) {
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
    for (std::size_t d = 0; d < kmax_.size(); ++d) {
      sums_.d_k[d] += d_k[d];
      sums_.d_k_size[d] += std::abs(d_k[d]);
    }
    for (std::size_t d = 0; d < vmax_.size(); ++d) sums_.d_v[d] += d_v[d];
    add(product(k, d_k, dim_), sums_.k_d_k, sums_.qk_results);
    add(product(v, d_v, v_dim_), sums_.v_d_v, sums_.vo_results);
    sums_.k_size += absolute_sum(k, dim_);
    sums_.v_size += absolute_sum(v, v_dim_);
    k_norm_ = std::max(k_norm_, norm(k, dim_));
    ++sums_.keys;
  }

  void add_query(std::int64_t token, std::int64_t head) {
    const double* q = rows_.q.row(token, head);
    const double* d_out = rows_.d_out.row(token, head);
    const double d_lse = rows_.d_lse.empty() ? 0 : rows_.d_lse[0].row(token, head)[0];
    const auto visible = static_cast<double>(sums_.keys);  // t_i
    const double v_weight = product(d_out, vmax_.data(), v_dim_).size;
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
    const double qk = scale_ * m * product(q, kmax_.data(), dim_).size;
    sums_.qk_sigma += qk;
    sums_.qk_tau += visible * qk;
    sums_.vo_sigma += v_weight;
    sums_.vo_tau += visible * v_weight;
    sums_.q_size += absolute_sum(q, dim_);
    sums_.d_out_size += absolute_sum(d_out, v_dim_);
    add(product(q, rows_.d_q.row(token, head), dim_), sums_.q_d_q, sums_.qk_results);
    add(product(d_out, rows_.out.row(token, head), v_dim_), sums_.out_d_out, sums_.vo_results);
    q_norm_ = std::max(q_norm_, norm(q, dim_));
  }

  [[nodiscard]] Magnitudes take() {
    sums_.largest_logit = scale_ * q_norm_ * k_norm_;
    return std::move(sums_);
  }

 private:
  static void add(const Product& product, Sum& sum, Sum& size) {
    sum += product.sum;
    size += product.size;
  }

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
