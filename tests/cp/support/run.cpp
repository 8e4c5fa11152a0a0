#include "support/run.hpp"

#include <algorithm>
#include <limits>

#include "comm/world.hpp"
#include "support/doubles.hpp"
#include "support/packs.hpp"
#include "support/values.hpp"

namespace straddle::cp::testing {
namespace {

using tensor::Axis;
using tensor::ConstView;
using tensor::Tensor;
using tensor::token_major;

// splitmix64: a value in [-1, 1] for each (seed, index).
double random_value(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15u + index * 0xbf58476d1ce4e5b9u + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) / static_cast<double>(std::uint64_t{1} << 52) - 1;
}

Tensor random_tensor(tensor::DType dtype, const tensor::Shape& shape,
                     const std::vector<std::int64_t>& documents, std::uint64_t seed) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  const std::size_t row = values.size() / documents.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool real = documents[i / row] >= 0;
    values[i] = real ? random_value(seed, i) : std::numeric_limits<double>::quiet_NaN();
  }
  Tensor tensor(dtype, shape);
  assign(values, tensor.view());
  return tensor;
}

std::unique_ptr<kernel::Kernel> make(const std::function<std::unique_ptr<kernel::Kernel>(int)>& factory,
                                     int rank, std::unique_ptr<kernel::Kernel> otherwise) {
  return factory ? factory(rank) : std::move(otherwise);
}

}  // namespace

AttentionConfig config_of(pack::ExchangeKind exchange, tensor::DType dtype) {
  AttentionConfig config;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 3;
  config.v_head_dim = 2;
  config.softmax_scale = 0.6;
  config.dtype = dtype;
  config.exchange = exchange;
  return config;
}

Inputs random_inputs(const AttentionConfig& config, const pack::Pack& pack, std::uint64_t seed) {
  const auto documents = document_of_slots(pack);
  const auto make_tensor = [&](std::int64_t heads, std::int64_t dim, std::uint64_t salt) {
    return random_tensor(config.dtype, token_major(pack.slots, heads, dim), documents, 8 * seed + salt);
  };
  return {make_tensor(config.heads, config.head_dim, 0), make_tensor(config.kv_heads, config.head_dim, 1),
          make_tensor(config.kv_heads, config.v_head_dim, 2), make_tensor(config.heads, config.v_head_dim, 3),
          random_tensor(tensor::accumulation_dtype(config.dtype), token_major(pack.slots, config.heads),
                        documents, 8 * seed + 4)};
}

Results empty_results(const AttentionConfig& config, const pack::Pack& pack) {
  const auto rows = pack.slots;
  return {Tensor(config.dtype, token_major(rows, config.heads, config.v_head_dim)),
          Tensor(tensor::accumulation_dtype(config.dtype), token_major(rows, config.heads)),
          Tensor(config.dtype, token_major(rows, config.heads, config.head_dim)),
          Tensor(config.dtype, token_major(rows, config.kv_heads, config.head_dim)),
          Tensor(config.dtype, token_major(rows, config.kv_heads, config.v_head_dim))};
}

ForwardShard forward_shard(const Inputs& inputs, std::int64_t begin, std::int64_t rows) {
  const auto shard = [&](const Tensor& t) { return t.view().slice(Axis::token, begin, rows); };
  return {shard(inputs.q), shard(inputs.k), shard(inputs.v)};
}

ForwardShardResults forward_results(Results& results, std::int64_t begin, std::int64_t rows) {
  const auto shard = [&](Tensor& t) { return t.view().slice(Axis::token, begin, rows); };
  return {shard(results.out), shard(results.lse)};
}

BackwardShard backward_shard(const Inputs& inputs, const Results& results, std::int64_t begin,
                             std::int64_t rows) {
  const auto shard = [&](const Tensor& t) { return t.view().slice(Axis::token, begin, rows); };
  return {shard(inputs.q), shard(results.out), shard(results.lse), shard(inputs.d_out), shard(inputs.d_lse)};
}

BackwardShardResults backward_results(Results& results, std::int64_t begin, std::int64_t rows) {
  const auto shard = [&](Tensor& t) { return t.view().slice(Axis::token, begin, rows); };
  return {shard(results.d_q), shard(results.d_k), shard(results.d_v)};
}

void run_rank(Attention& op, const Inputs& inputs, Results& results) {
  const std::int64_t begin = op.plan().global_row(), rows = op.plan().rows_per_rank;
  const Saved saved = op.forward(forward_shard(inputs, begin, rows), forward_results(results, begin, rows));
  op.backward(saved, backward_shard(inputs, results, begin, rows), backward_results(results, begin, rows));
}

void note_consensus_error(RankOutcome& outcome, const std::function<void()>& body) {
  try {
    body();
  } catch (const ConsensusError& error) {
    outcome.error = error.what();
    outcome.failed_rank = error.failed_rank();
    outcome.step = error.step();
  }
}

Run run_op(int ranks, const pack::Pack& pack, const AttentionConfig& config, const Inputs& inputs,
           const RunOptions& options) {
  Run run{empty_results(config, pack), std::vector<RankOutcome>(static_cast<std::size_t>(ranks))};
  const auto plain = plain_kernel_double();
  comm::run_threads(ranks, [&](comm::World& world) {
    const int rank = world.rank();
    RankOutcome& outcome = run.ranks[static_cast<std::size_t>(rank)];
    comm::Recorder recorder;
    const auto transport = comm::record(*world.group(ranks), recorder);
    const auto wanted = make(options.kernel, rank, plain_kernel_double());
    const auto dense = make(options.dense, rank, kernel_double(*plain, {.varlen = false}));
    AttentionConfig mine = config;
    if (options.configure) options.configure(rank, mine);
    note_consensus_error(outcome, [&] {
      Attention op(mine, options.pack ? options.pack(rank) : pack, *transport, *wanted, *dense,
                   options.seams ? options.seams(rank) : Seams{});
      outcome.path = op.path();
      outcome.kernel = &op.kernel() == dense.get() ? "dense" : "wanted";
      run_rank(op, inputs, run.results);
    });
    outcome.log = recorder.log();
    outcome.sent_forward_bytes = recorder.sent_bytes("K/V forward");
    outcome.sent_backward_bytes = recorder.sent_bytes("dK/dV backward");
  });
  return run;
}

double worst_difference(const Results& a, const Results& b) {
  double worst = 0;
  for (Tensor Results::*member :
       {&Results::out, &Results::lse, &Results::d_q, &Results::d_k, &Results::d_v}) {
    worst = std::max(worst, largest_difference(values_of((a.*member).view()), values_of((b.*member).view())));
  }
  return worst;
}

bool same_forward_and_d_q(const Results& a, const Results& b) {
  return same_bits(a.out.view(), b.out.view()) && same_bits(a.lse.view(), b.lse.view()) &&
         same_bits(a.d_q.view(), b.d_q.view());
}

bool same_gradients_of_uncut_documents(const Results& a, const Results& b, const pack::Pack& pack,
                                       int ranks) {
  const std::int64_t rows = pack.slots / ranks;
  return std::ranges::all_of(pack.documents, [&](const pack::Document& document) {
    if (document.start / rows != (document.end() - 1) / rows) return true;
    const auto part = [&](const Tensor& t) {
      return t.view().slice(Axis::token, document.start, document.length);
    };
    return same_bits(part(a.d_k), part(b.d_k)) && same_bits(part(a.d_v), part(b.d_v));
  });
}

std::vector<NamedPack> named_packs() {
  return {{{1, 6, 3}, 2, 2}, {{2, 11, 3}, 0, 4}, {{1, 7, 3}, 5, 4}, {{6}, 6, 3}, {{65, 3}, 0, 2}};
}

}  // namespace straddle::cp::testing
