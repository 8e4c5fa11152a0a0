#include "cp/shard_check.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "cp/exchange.hpp"

namespace straddle::cp {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::token_major;

void expect(std::string_view name, const tensor::ConstView& view, DType dtype, const Shape& shape) {
  if (view.dtype() == dtype && view.shape() == shape) return;
  throw std::invalid_argument(fmt::format("{} is {} {}, expected {} {}", name, tensor::name(view.dtype()),
                                          view.shape().text(), tensor::name(dtype), shape.text()));
}

void expect_positive(std::string_view name, std::int64_t value) {
  if (value > 0) return;
  throw std::invalid_argument(fmt::format("{} is {}, expected at least 1", name, value));
}

// Shapes of this rank's tensors.
struct Shapes {
  Shape q, k, v, out, lse, needed_k, needed_v;
};

Shapes shapes_of(const AttentionConfig& config, const pack::Plan& plan) {
  const std::int64_t rows = plan.rows_per_rank, needed = plan.straddle + rows;
  return {token_major(rows, config.heads, config.head_dim),
          token_major(rows, config.kv_heads, config.head_dim),
          token_major(rows, config.kv_heads, config.v_head_dim),
          token_major(rows, config.heads, config.v_head_dim),
          token_major(rows, config.heads),
          token_major(needed, config.kv_heads, config.head_dim),
          token_major(needed, config.kv_heads, config.v_head_dim)};
}

}  // namespace

void check(const AttentionConfig& config) {
  expect_positive("heads", config.heads);
  expect_positive("kv_heads", config.kv_heads);
  expect_positive("head_dim", config.head_dim);
  expect_positive("v_head_dim", config.v_head_dim);
  if (config.heads % config.kv_heads != 0) {
    throw std::invalid_argument(
        fmt::format("kv_heads {} does not divide heads {}", config.kv_heads, config.heads));
  }
  if (!tensor::is_floating(config.dtype)) {
    throw std::invalid_argument(
        fmt::format("dtype is {}, expected one of fp64, fp32, bf16, fp16", tensor::name(config.dtype)));
  }
  (void)make_adjoint(config.exchange, config.reduce);  // throws where they don't go together
}

void check(const AttentionConfig& config, const pack::Plan& plan, const ForwardShard& shard,
           const ForwardShardResults& results) {
  const Shapes shapes = shapes_of(config, plan);
  expect("q", shard.q, config.dtype, shapes.q);
  expect("k", shard.k, config.dtype, shapes.k);
  expect("v", shard.v, config.dtype, shapes.v);
  expect("out", results.out, config.dtype, shapes.out);
  expect("lse", results.lse, tensor::accumulation_dtype(config.dtype), shapes.lse);
}

void check(const AttentionConfig& config, const pack::Plan& plan, const Saved& saved,
           const BackwardShard& shard, const BackwardShardResults& results) {
  const Shapes shapes = shapes_of(config, plan);
  const DType accumulation = tensor::accumulation_dtype(config.dtype);
  expect("saved needed_k", saved.needed_k.view(), config.dtype, shapes.needed_k);
  expect("saved needed_v", saved.needed_v.view(), config.dtype, shapes.needed_v);
  expect("q", shard.q, config.dtype, shapes.q);
  expect("out", shard.out, config.dtype, shapes.out);
  expect("lse", shard.lse, accumulation, shapes.lse);
  expect("d_out", shard.d_out, config.dtype, shapes.out);
  if (shard.d_lse) expect("d_lse", *shard.d_lse, accumulation, shapes.lse);
  expect("d_q", results.d_q, config.dtype, shapes.q);
  expect("d_k", results.d_k, config.dtype, shapes.k);
  expect("d_v", results.d_v, config.dtype, shapes.v);
}

}  // namespace straddle::cp
