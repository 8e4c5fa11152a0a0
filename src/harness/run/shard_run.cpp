#include "harness/run/shard_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/judge/judge.hpp"

namespace straddle::harness {
namespace {

enum Result : std::size_t { kOut, kLse, kDq, kDk, kDv };

cp::AttentionConfig config_of(const Case& point, const std::vector<int>& nodes) {
  return {.heads = point.heads,
          .kv_heads = point.kv_heads,
          .head_dim = point.head_dim,
          .v_head_dim = point.v_head_dim,
          .softmax_scale = point.scale(),
          .dtype = point.dtype,
          .exchange = point.exchange,
          .reduce = point.reduce,
          .first_segment_apart = point.first_segment_apart,
          .case_hash = case_id(point),
          .nodes = nodes};
}

// This rank's rows of the inputs of one layer.
struct ShardInputs {
  tensor::Tensor q, k, v, d_out;
  std::optional<tensor::Tensor> d_lse;
};

tensor::Tensor shard_rows(const Case& point, const Inputs& inputs, InputName input, std::int64_t layer,
                          int rank) {
  const std::int64_t rows = point.rows_per_rank();
  const auto dtype = input == InputName::d_lse ? tensor::accumulation_dtype(point.dtype) : point.dtype;
  tensor::Tensor tensor(dtype, input_shape(point, input, rows));
  inputs.fill(input, layer, rank * rows, tensor.view());
  return tensor;
}

ShardInputs shard_inputs(const Case& point, const Inputs& inputs, std::int64_t layer, int rank) {
  ShardInputs shard{.q = shard_rows(point, inputs, InputName::q, layer, rank),
                    .k = shard_rows(point, inputs, InputName::k, layer, rank),
                    .v = shard_rows(point, inputs, InputName::v, layer, rank),
                    .d_out = shard_rows(point, inputs, InputName::d_out, layer, rank),
                    .d_lse = {}};
  if (point.inputs.d_lse) shard.d_lse = shard_rows(point, inputs, InputName::d_lse, layer, rank);
  return shard;
}

ShardLayer result_buffers(const Case& point) {
  ShardLayer layer;
  for (std::size_t result = 0; result < layer.size(); ++result) {
    layer[result] = Guarded(result_dtype(point, result), result_shape(point, result, point.rows_per_rank()));
  }
  return layer;
}

bool same_bytes(const tensor::ConstView& a, const tensor::ConstView& b) {
  const auto left = a.bytes();
  const auto right = b.bytes();
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

// Forward once more, as activation checkpointing does; its results must have the bits of the first.
cp::Saved recompute(const Case& point, cp::Attention& op, const ShardInputs& inputs, const ShardLayer& first,
                    std::int64_t layer, std::vector<std::string>& problems) {
  Guarded out(result_dtype(point, kOut), result_shape(point, kOut, point.rows_per_rank()));
  Guarded lse(result_dtype(point, kLse), result_shape(point, kLse, point.rows_per_rank()));
  cp::Saved saved = op.forward({.q = inputs.q.view(), .k = inputs.k.view(), .v = inputs.v.view()},
                               {.out = out.rows(), .lse = lse.rows()});
  if (!same_bytes(std::as_const(out).rows(), first[kOut].rows()) ||
      !same_bytes(std::as_const(lse).rows(), first[kLse].rows())) {
    problems.push_back(fmt::format("recompute of layer {} gave other bits than its first forward", layer));
  }
  return saved;
}

}  // namespace

tensor::Shape result_shape(const Case& point, std::size_t result, std::int64_t rows) {
  switch (result) {
    case kOut:
      return tensor::token_major(rows, point.heads, point.v_head_dim);
    case kLse:
      return tensor::token_major(rows, point.heads);
    case kDq:
      return tensor::token_major(rows, point.heads, point.head_dim);
    case kDk:
      return tensor::token_major(rows, point.kv_heads, point.head_dim);
    default:
      return tensor::token_major(rows, point.kv_heads, point.v_head_dim);
  }
}

tensor::DType result_dtype(const Case& point, std::size_t result) {
  return result == kLse ? tensor::accumulation_dtype(point.dtype) : point.dtype;
}

ShardRun run_shard(const Case& point, const Inputs& inputs, comm::Transport& transport,
                   kernel::Kernel& kernel, kernel::Kernel& dense, const std::vector<int>& nodes,
                   const cp::Seams& seams) {
  ShardRun run;
  cp::Attention op(config_of(point, nodes), point.padded(), transport, kernel, dense, seams);
  run.plan = op.plan();
  run.path = op.path();
  run.kernel = op.kernel().name();

  std::vector<ShardInputs> shards;
  std::vector<cp::Saved> saved;
  for (std::int64_t layer = 0; layer < point.layers; ++layer) {
    const auto& shard = shards.emplace_back(shard_inputs(point, inputs, layer, transport.rank()));
    auto& results = run.layers.emplace_back(result_buffers(point));
    saved.push_back(op.forward({.q = shard.q.view(), .k = shard.k.view(), .v = shard.v.view()},
                               {.out = results[kOut].rows(), .lse = results[kLse].rows()}));
    if (point.recompute) saved.back() = {};
  }
  for (std::int64_t layer = point.layers - 1; layer >= 0; --layer) {
    const auto& shard = shards[static_cast<std::size_t>(layer)];
    auto& results = run.layers[static_cast<std::size_t>(layer)];
    auto& kept = saved[static_cast<std::size_t>(layer)];
    if (point.recompute) kept = recompute(point, op, shard, results, layer, run.problems);
    op.backward(kept,
                {.q = shard.q.view(),
                 .out = results[kOut].rows(),
                 .lse = results[kLse].rows(),
                 .d_out = shard.d_out.view(),
                 .d_lse = shard.d_lse ? std::optional(std::as_const(*shard.d_lse).view()) : std::nullopt},
                {.d_q = results[kDq].rows(), .d_k = results[kDk].rows(), .d_v = results[kDv].rows()});
    kept = {};
  }
  for (std::int64_t layer = 0; layer < point.layers; ++layer) {
    for (std::size_t result = 0; result < kResultNames.size(); ++result) {
      if (run.layers[static_cast<std::size_t>(layer)][result].intact()) continue;
      run.problems.push_back(fmt::format("rank {} wrote past its rows of {} (layer {}): guard rows changed",
                                         transport.rank(), kResultNames[result], layer));
    }
  }
  return run;
}

}  // namespace straddle::harness
