#include "support/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

namespace straddle::cpu::test {

using tensor::Axis;
using tensor::DType;
using tensor::Tensor;
using tensor::token_major;

namespace {

std::int64_t longest(const Offsets& offsets) {
  std::int64_t length = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    length = std::max<std::int64_t>(length, offsets[i] - offsets[i - 1]);
  }
  return length;
}

// Rows from `real_rows` on are left NaN.
Tensor random_tensor(DType dtype, const tensor::Shape& shape, std::int64_t real_rows, double factor,
                     double mean, const std::vector<double>& common, std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  const std::int64_t tokens = shape.size(Axis::token);
  const std::int64_t row = tokens == 0 ? 0 : shape.numel() / tokens;
  std::vector<double> values(static_cast<std::size_t>(shape.numel()), std::nan(""));
  for (std::int64_t i = 0; i < real_rows * row; ++i) {
    const double shared = common.empty() ? 0 : common[static_cast<std::size_t>(i) % common.size()];
    values[static_cast<std::size_t>(i)] = normal(generator) * factor + mean + shared;
  }
  return tensor_of(dtype, shape, values);
}

Tensor copy_rows(const Tensor& from, std::int64_t begin, std::int64_t end) {
  const tensor::ConstView rows = from.view().slice(Axis::token, begin, end - begin);
  Tensor copy(from.dtype(), rows.shape());
  tensor::convert(rows, copy.view());
  return copy;
}

}  // namespace

kernel::VarlenProblem Problem::varlen() const {
  return {q.view(),
          k.view(),
          v.view(),
          cu_seqlens_q,
          cu_seqlens_k,
          longest(cu_seqlens_q),
          longest(cu_seqlens_k),
          softmax_scale};
}

Offsets offsets_of(const std::vector<std::int32_t>& lengths) {
  Offsets offsets{0};
  for (const std::int32_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

Problem random_problem(const Sizes& sizes, const Offsets& cu_seqlens_q, const Offsets& cu_seqlens_k,
                       const Options& options) {
  std::mt19937_64 generator(options.seed);
  const std::int64_t real_q = cu_seqlens_q.back(), real_k = cu_seqlens_k.back();
  const std::int64_t tokens_q = real_q + options.padding, tokens_k = real_k + options.padding;
  const Spread& spread = options.spread;
  std::vector<double> common(static_cast<std::size_t>(sizes.head_dim));
  std::normal_distribution<double> normal;
  for (double& value : common) value = normal(generator) * spread.k_common;

  Problem problem;
  problem.dtype = options.dtype;
  problem.sizes = sizes;
  problem.cu_seqlens_q = cu_seqlens_q;
  problem.cu_seqlens_k = cu_seqlens_k;
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(sizes.head_dim));
  const auto queries = [&](std::int64_t dim, double factor, double mean) {
    return random_tensor(options.dtype, token_major(tokens_q, sizes.heads, dim), real_q, factor, mean, {},
                         generator);
  };
  problem.q = queries(sizes.head_dim, spread.q, 0);
  problem.d_out = queries(sizes.v_head_dim, spread.d_out, spread.d_out_mean);
  problem.k = random_tensor(options.dtype, token_major(tokens_k, sizes.kv_heads, sizes.head_dim), real_k,
                            spread.k, 0, common, generator);
  problem.v = random_tensor(options.dtype, token_major(tokens_k, sizes.kv_heads, sizes.v_head_dim), real_k,
                            spread.v, spread.v_mean, {}, generator);
  if (options.d_lse) {
    problem.d_lse = random_tensor(tensor::accumulation_dtype(options.dtype),
                                  token_major(tokens_q, sizes.heads), real_q, spread.d_out, 0, {}, generator);
  }
  return problem;
}

Problem cut(const Problem& whole, std::int64_t q_begin, std::int64_t q_end, std::int64_t k_begin,
            std::int64_t k_end) {
  Problem part;
  part.dtype = whole.dtype;
  part.sizes = whole.sizes;
  part.cu_seqlens_q = {0, static_cast<std::int32_t>(q_end - q_begin)};
  part.cu_seqlens_k = {0, static_cast<std::int32_t>(k_end - k_begin)};
  part.softmax_scale = whole.softmax_scale;
  part.q = copy_rows(whole.q, q_begin, q_end);
  part.d_out = copy_rows(whole.d_out, q_begin, q_end);
  if (!whole.d_lse.empty()) part.d_lse = copy_rows(whole.d_lse, q_begin, q_end);
  part.k = copy_rows(whole.k, k_begin, k_end);
  part.v = copy_rows(whole.v, k_begin, k_end);
  return part;
}

Outcome run(kernel::Kernel& kernel, const Problem& problem) {
  const DType accumulation = tensor::accumulation_dtype(problem.dtype);
  Outcome outcome;
  outcome.out = Tensor(problem.dtype, problem.d_out.shape());
  outcome.lse = Tensor(accumulation, token_major(problem.tokens_q(), problem.sizes.heads));
  outcome.d_q = Tensor(problem.dtype, problem.q.shape());
  outcome.d_k = Tensor(accumulation, problem.k.shape());
  outcome.d_v = Tensor(accumulation, problem.v.shape());
  const kernel::VarlenProblem varlen = problem.varlen();
  kernel.forward(varlen, {outcome.out.view(), outcome.lse.view()});
  std::optional<tensor::ConstView> d_lse;
  if (!problem.d_lse.empty()) d_lse = problem.d_lse.view();
  kernel.backward(
      varlen,
      {std::as_const(outcome.out).view(), std::as_const(outcome.lse).view(), problem.d_out.view(), d_lse},
      {outcome.d_q.view(), outcome.d_k.view(), outcome.d_v.view()});
  return outcome;
}

std::vector<double> values_of(const Tensor& tensor) {
  Tensor wide(DType::fp64, tensor.shape());
  tensor::convert(tensor.view(), wide.view());
  const auto all = wide.view().span<double>();
  return {all.begin(), all.end()};
}

Tensor tensor_of(DType dtype, const tensor::Shape& shape, const std::vector<double>& values) {
  Tensor wide(DType::fp64, shape);
  std::copy(values.begin(), values.end(), wide.view().span<double>().begin());
  Tensor result(dtype, shape);
  tensor::convert(wide.view(), result.view());
  return result;
}

std::string different_rows(const std::string& name, const Tensor& a, std::int64_t a_begin, const Tensor& b,
                           std::int64_t b_begin, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto bytes_a = a.view().slice(Axis::token, a_begin + row, 1).bytes();
    const auto bytes_b = b.view().slice(Axis::token, b_begin + row, 1).bytes();
    if (!std::equal(bytes_a.begin(), bytes_a.end(), bytes_b.begin(), bytes_b.end())) {
      return fmt::format("{}: row {} against row {}", name, a_begin + row, b_begin + row);
    }
  }
  return {};
}

}  // namespace straddle::cpu::test
