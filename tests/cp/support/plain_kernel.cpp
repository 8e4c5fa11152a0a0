// The plain kernel double: one row of one segment at a time, straight from docs/math.md.
#include <cmath>
#include <limits>
#include <vector>

#include "support/doubles.hpp"
#include "support/values.hpp"

namespace straddle::cp::testing {
namespace {

using kernel::VarlenProblem;
using tensor::Axis;

// Values of all elements as double, token-major.
struct Problem {
  explicit Problem(const VarlenProblem& from)
      : heads(from.q.size(Axis::head)),
        group(heads / from.k.size(Axis::head)),
        kv_heads(from.k.size(Axis::head)),
        dim(from.q.size(Axis::dim)),
        v_dim(from.v.size(Axis::dim)),
        scale(from.softmax_scale),
        q(values_of(from.q)),
        k(values_of(from.k)),
        v(values_of(from.v)) {}

  [[nodiscard]] const double* q_row(std::int64_t i, std::int64_t h) const { return &q[at(i, h, heads, dim)]; }
  [[nodiscard]] const double* k_row(std::int64_t j, std::int64_t h) const {
    return &k[at(j, h / group, kv_heads, dim)];
  }
  [[nodiscard]] const double* v_row(std::int64_t j, std::int64_t h) const {
    return &v[at(j, h / group, kv_heads, v_dim)];
  }
  [[nodiscard]] static std::size_t at(std::int64_t token, std::int64_t head, std::int64_t all_heads,
                                      std::int64_t size) {
    return static_cast<std::size_t>((token * all_heads + head) * size);
  }

  std::int64_t heads, group, kv_heads, dim, v_dim;
  double scale;
  std::vector<double> q, k, v;
};

double dot(const double* a, const double* b, std::int64_t size) {
  double sum = 0;
  for (std::int64_t d = 0; d < size; ++d) sum += a[d] * b[d];
  return sum;
}

// Calls visit(query row, head, first key row, one past its last key row) for every row of every segment.
template <class Visit>
void for_each_row(const VarlenProblem& problem, const Visit& visit) {
  for (std::size_t t = 0; t + 1 < problem.cu_seqlens_q.size(); ++t) {
    const std::int64_t q_begin = problem.cu_seqlens_q[t], queries = problem.cu_seqlens_q[t + 1] - q_begin;
    const std::int64_t k_begin = problem.cu_seqlens_k[t], keys = problem.cu_seqlens_k[t + 1] - k_begin;
    for (std::int64_t i = 0; i < queries; ++i) {
      const std::int64_t visible = i + keys - queries + 1;
      if (visible <= 0) continue;
      for (std::int64_t h = 0; h < problem.q.size(Axis::head); ++h) {
        visit(q_begin + i, h, k_begin, k_begin + visible);
      }
    }
  }
}

class PlainKernelDouble final : public kernel::Kernel {
 public:
  [[nodiscard]] std::string_view name() const override { return "plain double"; }
  [[nodiscard]] bool varlen() const override { return true; }
  [[nodiscard]] tensor::Memory& memory() const override { return tensor::host_memory(); }
  [[nodiscard]] std::optional<std::string> unsupported(const kernel::Requirements&) const override {
    return {};
  }

  void forward(const VarlenProblem& problem, const kernel::ForwardResults& results) override {
    kernel::validate(problem, results);
    const Problem p(problem);
    std::vector<double> out(static_cast<std::size_t>(results.out.numel()), 0.0);
    std::vector<double> lse(static_cast<std::size_t>(results.lse.numel()),
                            -std::numeric_limits<double>::infinity());
    for_each_row(problem, [&](std::int64_t i, std::int64_t h, std::int64_t begin, std::int64_t end) {
      double sum = 0;
      double* row = &out[Problem::at(i, h, p.heads, p.v_dim)];
      for (std::int64_t j = begin; j < end; ++j) {  // inputs of tests are small: no maximum to subtract
        const double weight = std::exp(p.scale * dot(p.q_row(i, h), p.k_row(j, h), p.dim));
        sum += weight;
        for (std::int64_t d = 0; d < p.v_dim; ++d) row[d] += weight * p.v_row(j, h)[d];
      }
      for (std::int64_t d = 0; d < p.v_dim; ++d) row[d] /= sum;
      lse[Problem::at(i, h, p.heads, 1)] = std::log(sum);
    });
    assign(out, results.out);
    assign(lse, results.lse);
  }

  void backward(const VarlenProblem& problem, const kernel::BackwardInputs& inputs,
                const kernel::BackwardResults& results) override {
    kernel::validate(problem, inputs, results);
    const Problem p(problem);
    const auto out = values_of(inputs.out), lse = values_of(inputs.lse), d_out = values_of(inputs.d_out);
    const auto d_lse = inputs.d_lse ? values_of(*inputs.d_lse) : std::vector<double>(lse.size(), 0.0);
    std::vector<double> d_q(p.q.size(), 0.0), d_k(p.k.size(), 0.0), d_v(p.v.size(), 0.0);
    for_each_row(problem, [&](std::int64_t i, std::int64_t h, std::int64_t begin, std::int64_t end) {
      const double* d_out_row = &d_out[Problem::at(i, h, p.heads, p.v_dim)];
      const double delta = dot(d_out_row, &out[Problem::at(i, h, p.heads, p.v_dim)], p.v_dim);
      const std::size_t row = Problem::at(i, h, p.heads, 1);
      for (std::int64_t j = begin; j < end; ++j) {
        const double weight = std::exp(p.scale * dot(p.q_row(i, h), p.k_row(j, h), p.dim) - lse[row]);
        const double d_logit = weight * (dot(d_out_row, p.v_row(j, h), p.v_dim) - delta + d_lse[row]);
        for (std::int64_t d = 0; d < p.dim; ++d) {
          d_q[Problem::at(i, h, p.heads, p.dim) + static_cast<std::size_t>(d)] +=
              p.scale * d_logit * p.k_row(j, h)[d];
          d_k[Problem::at(j, h / p.group, p.kv_heads, p.dim) + static_cast<std::size_t>(d)] +=
              p.scale * d_logit * p.q_row(i, h)[d];
        }
        for (std::int64_t d = 0; d < p.v_dim; ++d) {
          d_v[Problem::at(j, h / p.group, p.kv_heads, p.v_dim) + static_cast<std::size_t>(d)] +=
              weight * d_out_row[d];
        }
      }
    });
    assign(d_q, results.d_q);
    assign(d_k, results.d_k);
    assign(d_v, results.d_v);
  }
};

}  // namespace

std::unique_ptr<kernel::Kernel> plain_kernel_double() { return std::make_unique<PlainKernelDouble>(); }

}  // namespace straddle::cp::testing
