#include "cp/attention.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cp/consensus.hpp"
#include "cp/preflight.hpp"
#include "cp/rows.hpp"
#include "cp/shard_check.hpp"
#include "cp/staging.hpp"
#include "cp/varlen_call.hpp"
#include "pack/validate.hpp"

namespace straddle::cp {
namespace {

using tensor::Tensor;
using tensor::token_major;

// The plan of this rank, as a kernel may consume it. Throws naming entry and rule.
pack::Plan checked_plan(const pack::Pack& pack, const comm::Transport& transport, const Seams& seams) {
  pack::Plan plan = pack::make_plan(pack, transport.size(), transport.rank());
  const std::int64_t rows_per_rank = plan.rows_per_rank;
  if (seams.plan) plan = seams.plan(std::move(plan));
  auto violation = pack::find_violation(plan);
  const auto must_be = [&](std::string_view entry, std::int64_t seen, std::int64_t expected) {
    if (violation || seen == expected) return;
    violation = pack::PlanViolation{"the plan is of this rank, group and pack", std::string(entry),
                                    fmt::format("{}", seen), fmt::format("{}", expected)};
  };
  must_be("rank", plan.rank, transport.rank());
  must_be("ranks", plan.ranks, transport.size());
  must_be("rows_per_rank", plan.rows_per_rank, rows_per_rank);
  if (violation) throw pack::PackError(violation->text());
  return plan;
}

// Everything but the pack that ranks must have in common.
std::uint64_t configuration_hash(const AttentionConfig& config) {
  std::uint64_t hash = config.case_hash;
  for (const std::int64_t value :
       {config.heads, config.kv_heads, config.head_dim, config.v_head_dim,
        std::bit_cast<std::int64_t>(config.softmax_scale), static_cast<std::int64_t>(config.dtype),
        static_cast<std::int64_t>(config.exchange), static_cast<std::int64_t>(config.reduce)}) {
    hash = mix(hash, static_cast<std::uint64_t>(value));
  }
  return hash;
}

std::optional<std::string> why_unsupported(const kernel::Kernel& kernel, const AttentionConfig& config) {
  try {
    return kernel.unsupported(
        {config.dtype, config.heads, config.kv_heads, config.head_dim, config.v_head_dim});
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Only rank 0 looks, so that differing environments can't send ranks on different paths.
bool crossing_nodes_allowed(const comm::Transport& transport) {
  if (transport.rank() != 0) return false;
  const char* value = std::getenv("STRADDLE_ALLOW_XNODE");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

struct Attention::Impl {
  Impl(const AttentionConfig& asked, const pack::Pack& pack, comm::Transport& group, kernel::Kernel& wanted,
       kernel::Kernel& dense, const Seams& seams);

  Saved forward(const ForwardShard& shard, const ForwardShardResults& results);
  void backward(const Saved& saved, const BackwardShard& shard, const BackwardShardResults& results);

  void gather(const ForwardShard& shard, Saved& needed, Failure& failure);
  void scatter(const tensor::ConstView& partial_d_k, const tensor::ConstView& partial_d_v,
               const BackwardShardResults& results, Failure& failure);
  void meet(std::string_view name, const Failure& failure) const;
  [[nodiscard]] Tensor rows(std::int64_t tokens, std::int64_t dim, tensor::DType dtype) const {
    return {dtype, token_major(tokens, config.kv_heads, dim)};
  }

  AttentionConfig config;
  comm::Transport& transport;
  pack::Plan plan;
  std::uint64_t shared_hash = 0;  // of case, configuration, pack and path
  pack::Path path;
  kernel::Kernel* kernel = nullptr;
  std::unique_ptr<Exchange> exchange;
  std::unique_ptr<Adjoint> adjoint;
  std::optional<VarlenAttention> attention;
  std::uint64_t calls = 0;  // of forward and backward, also those that failed
};

Attention::Impl::Impl(const AttentionConfig& asked, const pack::Pack& pack, comm::Transport& group,
                      kernel::Kernel& wanted, kernel::Kernel& dense, const Seams& seams)
    : config(asked), transport(group) {
  LocalFacts facts;
  Failure failure;
  failure.attempt([&] {
    check(config);
    const std::size_t ranks = static_cast<std::size_t>(group.size());
    if (!config.nodes.empty() && config.nodes.size() != ranks) {
      throw std::invalid_argument(
          fmt::format("nodes has {} entries, expected one for each of {} ranks", config.nodes.size(), ranks));
    }
    plan = checked_plan(pack, group, seams);
  });
  facts.plan_error = failure.cause();
  facts.kernel_unsupported = why_unsupported(wanted, config);
  facts.dense_unsupported = why_unsupported(dense, config);
  facts.kernel_varlen = wanted.varlen();
  facts.spans_nodes = std::set<int>(config.nodes.begin(), config.nodes.end()).size() > 1;
  facts.allow_xnode = crossing_nodes_allowed(group);
  facts.case_hash = configuration_hash(config);

  const Agreement agreement = preflight(facts, plan, config.exchange, transport);
  path = agreement.path;
  kernel = agreement.take_dense ? &dense : &wanted;
  shared_hash = mix(mix(facts.case_hash, plan.pack_hash), static_cast<std::uint64_t>(path.taken));
  exchange = make_exchange(path.taken);
  adjoint = make_adjoint(path.taken, config.reduce);
  if (seams.exchange) exchange = seams.exchange(std::move(exchange));
  if (seams.adjoint) adjoint = seams.adjoint(std::move(adjoint));
  attention.emplace(plan, config.first_segment_apart, config.softmax_scale);
}

void Attention::Impl::meet(std::string_view name, const Failure& failure) const {
  std::uint64_t hash = mix(shared_hash, calls);
  for (const char letter : name) hash = mix(hash, static_cast<unsigned char>(letter));
  const Step step{std::string(name), hash,
                  fmt::format("{}, call {} of the op, case {:016x}, pack {:016x}, {}", name, calls,
                              config.case_hash, plan.pack_hash, pack::name(path.taken))};
  reach_consensus(step, failure.cause(), transport);
}

// Takes part in the exchange whatever failed before, with rows of NaN if need be: peers wait for it.
void Attention::Impl::gather(const ForwardShard& shard, Saved& needed, Failure& failure) {
  Tensor k_storage, v_storage;
  tensor::ConstView k, v;
  if (failure.cause()) {
    k_storage = rows(plan.rows_per_rank, config.head_dim, config.dtype);
    v_storage = rows(plan.rows_per_rank, config.v_head_dim, config.dtype);
    k = k_storage.view();
    v = v_storage.view();
  } else {
    k = contiguous(shard.k, k_storage);
    v = contiguous(shard.v, v_storage);
  }
  failure.attempt_always(
      [&] { exchange->gather(plan, k, v, needed.needed_k.view(), needed.needed_v.view(), transport); });
}

Saved Attention::Impl::forward(const ForwardShard& shard, const ForwardShardResults& results) {
  ++calls;
  Failure failure;
  failure.attempt([&] { check(config, plan, shard, results); });
  const std::int64_t needed_rows = plan.straddle + plan.rows_per_rank;
  Saved saved{rows(needed_rows, config.head_dim, config.dtype),
              rows(needed_rows, config.v_head_dim, config.dtype)};
  gather(shard, saved, failure);
  failure.attempt([&] {
    attention->forward(*kernel, shard.q, saved.needed_k.view(), saved.needed_v.view(),
                       {results.out, results.lse});
  });
  meet("forward", failure);
  return saved;
}

// Sums in accumulation dtype, then rounds once to storage.
void Attention::Impl::scatter(const tensor::ConstView& partial_d_k, const tensor::ConstView& partial_d_v,
                              const BackwardShardResults& results, Failure& failure) {
  failure.attempt([&] {
    Tensor d_k = rows(plan.rows_per_rank, config.head_dim, partial_d_k.dtype());
    Tensor d_v = rows(plan.rows_per_rank, config.v_head_dim, partial_d_v.dtype());
    adjoint->scatter(plan, partial_d_k, partial_d_v, d_k.view(), d_v.view(), transport);
    tensor::convert(d_k.view(), results.d_k);
    tensor::convert(d_v.view(), results.d_v);
  });
}

void Attention::Impl::backward(const Saved& saved, const BackwardShard& shard,
                               const BackwardShardResults& results) {
  ++calls;
  Failure failure;
  failure.attempt([&] { check(config, plan, saved, shard, results); });
  const std::int64_t needed_rows = plan.straddle + plan.rows_per_rank;
  const tensor::DType accumulation = tensor::accumulation_dtype(config.dtype);
  Tensor partial_d_k = rows(needed_rows, config.head_dim, accumulation);
  Tensor partial_d_v = rows(needed_rows, config.v_head_dim, accumulation);
  failure.attempt([&] {
    attention->backward(*kernel, shard.q, saved.needed_k.view(), saved.needed_v.view(),
                        {shard.out, shard.lse, shard.d_out, shard.d_lse},
                        {results.d_q, partial_d_k.view(), partial_d_v.view()});
  });
  meet("backward", failure);  // before the partials move: no rank adds those of a kernel that failed
  scatter(partial_d_k.view(), partial_d_v.view(), results, failure);
  meet("adjoint", failure);
}

Attention::Attention(const AttentionConfig& config, const pack::Pack& pack, comm::Transport& transport,
                     kernel::Kernel& kernel, kernel::Kernel& dense, const Seams& seams)
    : impl_(std::make_unique<Impl>(config, pack, transport, kernel, dense, seams)) {}
Attention::~Attention() = default;

const pack::Plan& Attention::plan() const { return impl_->plan; }
const pack::Path& Attention::path() const { return impl_->path; }
const kernel::Kernel& Attention::kernel() const { return *impl_->kernel; }

Saved Attention::forward(const ForwardShard& shard, const ForwardShardResults& results) {
  return impl_->forward(shard, results);
}

void Attention::backward(const Saved& saved, const BackwardShard& shard,
                         const BackwardShardResults& results) {
  impl_->backward(saved, shard, results);
}

}  // namespace straddle::cp
