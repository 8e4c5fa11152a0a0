#include "harness/run/op_subject.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "comm/errors.hpp"
#include "harness/run/collect.hpp"
#include "harness/run/kernels.hpp"
#include "harness/run/shard_run.hpp"
#include "pack/cost.hpp"

namespace straddle::harness {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<int> nodes_of_group(const comm::World& world, std::int64_t ranks) {
  auto nodes = world.nodes();
  nodes.resize(static_cast<std::size_t>(ranks));
  return nodes;
}

CaseFacts facts_of(const Case& point, const ShardRun& shard, const std::vector<RankStatus>& ranks) {
  CaseFacts facts;
  const pack::Pack padded = point.padded();
  facts.rows_per_rank = point.rows_per_rank();
  facts.straddles = pack::straddles(padded, point.ranks);
  facts.real_rows = pack::real_rows(padded, point.ranks);
  facts.pairs = pack::pairs_per_rank(padded, point.ranks);
  facts.path = shard.path;
  facts.kernel = shard.kernel;

  const std::int64_t elements =
      pack::moved_rows(shard.path.taken, padded, point.ranks) *
      pack::kv_elements_per_token(point.kv_heads, point.head_dim, point.v_head_dim) * point.layers;
  const auto storage = static_cast<std::int64_t>(tensor::size_bytes(point.dtype));
  const auto partial = static_cast<std::int64_t>(tensor::size_bytes(tensor::accumulation_dtype(point.dtype)));
  facts.forward_bytes_form = elements * storage * (point.recompute ? 2 : 1);
  facts.backward_bytes_form = elements * partial;
  for (const RankStatus& rank : ranks) {
    facts.forward_bytes += rank.forward_bytes;
    facts.backward_bytes += rank.backward_bytes;
    if (rank.in_group && rank.operations_hash != ranks.front().operations_hash) facts.same_operations = false;
  }
  return facts;
}

}  // namespace

OpSubject::OpSubject(double timeout_s, int threads, SubjectSeams seams)
    : timeout_s_(timeout_s), threads_(threads), seams_(std::move(seams)) {}

OpSubject::~OpSubject() = default;

kernel::Kernel& OpSubject::kernel(const std::string& name) {
  auto& kernel = kernels_[name];
  if (!kernel) {
    kernel = make_kernel(name, threads_);
    if (seams_.kernel) kernel = seams_.kernel(std::move(kernel));
  }
  return *kernel;
}

SubjectRun OpSubject::run(const Case& point, const Inputs& inputs, comm::World& world) {
  comm::Transport* const group = world.group(static_cast<int>(point.ranks));
  recorder_.clear();
  RankStatus status{.in_group = group != nullptr};
  std::optional<ShardRun> shard;
  world.control().barrier("start of case");
  const auto start = Clock::now();
  if (group != nullptr) {
    if (timeout_s_ > 0) {
      world.set_deadline(
          {start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_))});
    }
    try {
      const auto decorated = seams_.transport ? seams_.transport(*group) : nullptr;
      const auto recorded = comm::record(decorated ? *decorated : *group, recorder_);
      shard = run_shard(point, inputs, *recorded, kernel(point.kernel), kernel("dense"),
                        nodes_of_group(world, point.ranks), seams_.op);
    } catch (const comm::HangError& error) {
      status.state = RunState::hang;
      status.failure = error.what();
    } catch (const std::exception& error) {
      status.state = RunState::failed;
      status.failure = error.what();
    }
    world.set_deadline({});
    status.ms = milliseconds_since(start);
    status.where = recorder_.where();
    status.forward_bytes = recorder_.sent_bytes("K/V forward");
    status.backward_bytes = recorder_.sent_bytes("dK/dV backward");
    status.operations_hash = recorder_.sequence_hash();
    if (shard) status.problems = fmt::format("{}", fmt::join(shard->problems, "\n"));
  }

  const auto ranks = gather_status(status, world.control());
  SubjectRun run;
  for (const RankStatus& rank : ranks) {
    run.ms = std::max(run.ms, rank.ms);
    run.stranded = run.stranded || rank.state == RunState::hang;
    if (rank.in_group) run.where.push_back(rank.where);
    std::istringstream problems(rank.problems);
    for (std::string problem; std::getline(problems, problem);) run.problems.push_back(problem);
    // A failure explains the hang of the others, so it is the one that counts.
    const bool graver = rank.state == RunState::failed
                            ? run.state != RunState::failed
                            : rank.state == RunState::hang && run.state == RunState::ok;
    if (graver) {
      run.state = rank.state;
      run.failure = rank.failure;
    }
  }
  if (run.state != RunState::ok) return run;
  run.layers = gather_layers(point, shard ? &*shard : nullptr, world.control());
  if (world.rank() == 0) run.facts = facts_of(point, *shard, ranks);
  return run;
}

std::vector<LayerResults> OpSubject::run_alone(const Case& point, const Inputs& inputs) {
  Case alone = point;
  alone.ranks = 1;
  const auto transport = comm::self_transport();
  ShardRun shard = run_shard(alone, inputs, *transport, kernel(point.kernel), kernel("dense"), {0}, {});
  return gather_layers(alone, &shard, *transport);
}

}  // namespace straddle::harness
