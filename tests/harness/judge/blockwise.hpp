// A correct attention of the plainest kind: key tile after key tile with a running softmax, in float, with P,
// dS and the results rounded to the storage dtype. What the bounds must let pass.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "problem.hpp"

namespace straddle::harness::test {

class Blockwise {
 public:
  // inputs: q, k, v, d_out, d_lse, fp64 tables of one layer.
  Blockwise(const Case& point, const std::map<std::string, Tensor>& inputs, std::int64_t tile)
      : point_(point),
        dim_(point.head_dim),
        v_dim_(point.v_head_dim),
        tile_(tile),
        scale_(static_cast<float>(point.scale())) {
    for (const std::string name : {"q", "k", "v", "d_out", "d_lse"}) values_[name] = floats(inputs.at(name));
    for (const std::string_view name : kResultNames) {
      const Tensor shape(DType::fp32, result_shape(point, name, point.padded().slots));
      values_[std::string(name)].assign(static_cast<std::size_t>(shape.shape().numel()),
                                        name == "lse" ? -std::numeric_limits<float>::infinity() : 0.0F);
    }
  }

  [[nodiscard]] LayerResults run() {
    for (const pack::Document& document : point_.pack.documents) {
      for (std::int64_t head = 0; head < point_.heads; ++head) {
        for (std::int64_t i = document.start; i < document.end(); ++i) forward(document, head, i);
        for (std::int64_t i = document.start; i < document.end(); ++i) backward(document, head, i);
      }
    }
    LayerResults results;
    for (const std::string_view name : kResultNames) {
      Tensor wide(DType::fp32, result_shape(point_, name, point_.padded().slots));
      const auto& values = values_.at(std::string(name));
      std::copy(values.begin(), values.end(), wide.view().span<float>().begin());
      Tensor& to = results.by_name(name);
      to = Tensor(name == "lse" ? DType::fp32 : point_.dtype, wide.shape());
      tensor::convert(wide.view(), to.view());
    }
    return results;
  }

 private:
  static std::vector<float> floats(const Tensor& table) {
    const auto all = table.view().span<double>();
    return {all.begin(), all.end()};
  }

  float* at(const std::string& name, std::int64_t token, std::int64_t head) {
    const bool key = name == "k" || name == "v" || name == "d_k" || name == "d_v";
    const bool value = name == "v" || name == "d_v" || name == "out" || name == "d_out";
    const std::int64_t heads = key ? point_.kv_heads : point_.heads;
    const std::int64_t group = point_.heads / point_.kv_heads;
    const std::int64_t dim = name == "lse" || name == "d_lse" ? 1 : value ? v_dim_ : dim_;
    return values_.at(name).data() + (token * heads + (key ? head / group : head)) * dim;
  }

  [[nodiscard]] float rounded(float value) const {
    if (point_.dtype == DType::bf16) return tensor::to_float(tensor::to_bf16(value));
    if (point_.dtype == DType::fp16) return tensor::to_float(tensor::to_fp16(value));
    return value;
  }

  static float dot(const float* a, const float* b, std::int64_t dim) {
    float sum = 0;
    for (std::int64_t d = 0; d < dim; ++d) sum += a[d] * b[d];
    return sum;
  }

  void forward(const pack::Document& document, std::int64_t head, std::int64_t i) {
    const float* q = at("q", i, head);
    float maximum = -std::numeric_limits<float>::infinity(), sum = 0;
    std::vector<float> acc(static_cast<std::size_t>(v_dim_), 0), s;
    for (std::int64_t begin = document.start; begin <= i; begin += tile_) {
      const std::int64_t end = std::min(begin + tile_, i + 1);
      const float* k = at("k", begin, head);
      const float* v = at("v", begin, head);
      s.clear();
      float larger = maximum;
      for (std::int64_t j = begin; j < end; ++j) {
        s.push_back(scale_ * dot(q, k + (j - begin) * point_.kv_heads * dim_, dim_));
        larger = std::max(larger, s.back());
      }
      const float shrink = std::exp(maximum - larger);
      sum *= shrink;
      for (float& value : acc) value *= shrink;
      for (std::int64_t j = begin; j < end; ++j) {
        const float p = std::exp(s[static_cast<std::size_t>(j - begin)] - larger);
        sum += p;
        const float* row = v + (j - begin) * point_.kv_heads * v_dim_;
        for (std::int64_t d = 0; d < v_dim_; ++d) acc[static_cast<std::size_t>(d)] += rounded(p) * row[d];
      }
      maximum = larger;
    }
    at("lse", i, head)[0] = maximum + std::log(sum);
    for (std::int64_t d = 0; d < v_dim_; ++d) {
      at("out", i, head)[d] = rounded(acc[static_cast<std::size_t>(d)] / sum);
    }
  }

  void backward(const pack::Document& document, std::int64_t head, std::int64_t i) {
    const float* q = at("q", i, head);
    const float* d_out = at("d_out", i, head);
    const float lse = at("lse", i, head)[0];
    const float d_lse = point_.inputs.d_lse ? at("d_lse", i, head)[0] : 0;
    const float delta = dot(d_out, at("out", i, head), v_dim_) - d_lse;
    float* d_q = at("d_q", i, head);
    for (std::int64_t j = document.start; j <= i; ++j) {
      const float* k = at("k", j, head);
      const float p = std::exp(scale_ * dot(q, k, dim_) - lse);
      const float d_s = rounded(p * (dot(d_out, at("v", j, head), v_dim_) - delta));
      float* d_k = at("d_k", j, head);
      float* d_v = at("d_v", j, head);
      for (std::int64_t d = 0; d < dim_; ++d) {
        d_q[d] += scale_ * (d_s * k[d]);
        d_k[d] += scale_ * (d_s * q[d]);
      }
      for (std::int64_t d = 0; d < v_dim_; ++d) d_v[d] += rounded(p) * d_out[d];
    }
  }

  const Case& point_;
  std::int64_t dim_;
  std::int64_t v_dim_;
  std::int64_t tile_;
  float scale_;
  std::map<std::string, std::vector<float>> values_;
};

inline LayerResults blockwise(const Case& point, const std::map<std::string, Tensor>& inputs) {
  return Blockwise(point, inputs, 64).run();
}

}  // namespace straddle::harness::test
