// The op between real processes: started by mpirun, with as many ranks as it gives.
#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "comm/world.hpp"
#include "cp/attention.hpp"
#include "support/doubles.hpp"
#include "support/packs.hpp"
#include "support/run.hpp"
#include "support/values.hpp"

namespace straddle::cp {
namespace {

using pack::ExchangeKind;
using namespace testing;

// This rank's rows of two results are the same to rounding of fp64.
double difference_on_rank(const Results& a, const Results& b, const pack::Plan& plan) {
  double worst = 0;
  for (tensor::Tensor Results::*member :
       {&Results::out, &Results::lse, &Results::d_q, &Results::d_k, &Results::d_v}) {
    const auto rows = [&](const Results& r) {
      return values_of((r.*member).view().slice(tensor::Axis::token, plan.global_row(), plan.rows_per_rank));
    };
    worst = std::max(worst, largest_difference(rows(a), rows(b)));
  }
  return worst;
}

void check_values(comm::Transport& transport, const pack::Pack& pack, AttentionConfig config) {
  const auto plain = plain_kernel_double();
  const Inputs inputs = random_inputs(config, pack, 11);
  const Results expected = by_definition(config, pack, inputs);
  for (const ExchangeKind kind : {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a}) {
    for (const Reduce reduce : {Reduce::ordered, Reduce::library}) {
      if (reduce == Reduce::library && kind != ExchangeKind::allgather) continue;
      config.exchange = kind;
      config.reduce = reduce;
      Attention op(config, pack, transport, *plain, *plain);
      Results results = empty_results(config, pack);
      run_rank(op, inputs, results);
      CHECK(difference_on_rank(results, expected, op.plan()) < 1e-13);
    }
  }
}

void check_failure(comm::Transport& transport, const pack::Pack& pack, const AttentionConfig& config) {
  const auto plain = plain_kernel_double();
  bool armed = transport.rank() == transport.size() - 1;
  KernelDoubleOptions options;
  options.before_forward = [&] {
    if (std::exchange(armed, false)) throw std::runtime_error("device lost");
  };
  const auto kernel = kernel_double(*plain, options);
  Attention op(config, pack, transport, *kernel, *plain);
  const Inputs inputs = random_inputs(config, pack, 11);
  Results results = empty_results(config, pack);
  RankOutcome outcome;
  note_consensus_error(outcome, [&] { run_rank(op, inputs, results); });
  CHECK(outcome.error == "rank " + std::to_string(transport.size() - 1) + " failed in forward: device lost");
  run_rank(op, inputs, results);
  CHECK(difference_on_rank(results, by_definition(config, pack, inputs), op.plan()) < 1e-13);
}

TEST_CASE("the op between processes: the definition's values, one error when a rank fails") {
  const auto world = comm::mpi_world();
  const int ranks = world->size();
  comm::Transport& transport = *world->group(ranks);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  for (const auto& documents :
       std::vector<std::vector<std::int64_t>>{{5, 3}, {1, 6, 3}, {2, 11, 3}, {12}, {1, 1}}) {
    for (const std::int64_t padding : {0, 5})
      check_values(transport, pack_of(documents, padding, ranks), config);
  }
  check_failure(transport, pack_of({2, 11, 3}, 0, ranks), config);

  const pack::Pack pack = pack_of({2, 11, 3}, 0, ranks);
  const auto plain = plain_kernel_double();
  Seams seams;
  if (world->rank() == 0) {
    seams.plan = [](pack::Plan plan) {
      plan.max_seqlen_k += 1;
      return plan;
    };
  }
  RankOutcome outcome;
  note_consensus_error(outcome, [&] { Attention(config, pack, transport, *plain, *plain, seams); });
  CHECK(outcome.error.starts_with("rank 0 failed in plan: max_seqlen_k is the longest k: max_seqlen_k is "));
}

}  // namespace
}  // namespace straddle::cp
