// A failure on one rank makes every rank throw the same error in that same call, and the op stays usable.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include "comm/errors.hpp"
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

constexpr ExchangeKind kKinds[] = {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a};

enum class Fails { forward, backward };

TEST_CASE("a kernel that fails on one rank: one error on all, and the next call works") {
  const pack::Pack pack = pack_of({6, 6, 4}, 0, 4);
  for (const ExchangeKind kind : kKinds) {
    const AttentionConfig config = config_of(kind);
    const Inputs inputs = random_inputs(config, pack, 1);
    const Results expected = by_definition(config, pack, inputs);
    for (const Fails fails : {Fails::forward, Fails::backward}) {
      for (int failing = 0; failing < 4; ++failing) {
        CAPTURE(pack::name(kind));
        CAPTURE(failing);
        std::vector<RankOutcome> outcomes(4);
        Results results = empty_results(config, pack);
        comm::run_threads(4, [&](comm::World& world) {
          const auto plain = plain_kernel_double();
          bool armed = world.rank() == failing;
          const auto fail_once = [&] {
            if (std::exchange(armed, false)) throw std::runtime_error("illegal address at row 7");
          };
          KernelDoubleOptions options;
          (fails == Fails::forward ? options.before_forward : options.before_backward) = fail_once;
          const auto kernel = kernel_double(*plain, options);
          Attention op(config, pack, *world.group(4), *kernel, *plain);
          note_consensus_error(outcomes[static_cast<std::size_t>(world.rank())],
                               [&] { run_rank(op, inputs, results); });
          run_rank(op, inputs, results);
        });
        const std::string step = fails == Fails::forward ? "forward" : "backward";
        for (const RankOutcome& outcome : outcomes) {
          CHECK(outcome.error ==
                "rank " + std::to_string(failing) + " failed in " + step + ": illegal address at row 7");
          CHECK(outcome.step == step);
        }
        CHECK(worst_difference(results, expected) < 1e-13);
      }
    }
  }
}

TEST_CASE("kernels that fail on several ranks: the first of them is named") {
  RunOptions options;
  const auto plain = plain_kernel_double();
  options.kernel = [&](int rank) {
    KernelDoubleOptions failing;
    if (rank >= 2)
      failing.before_forward = [=] { throw std::runtime_error("cause " + std::to_string(rank)); };
    return kernel_double(*plain, failing);
  };
  const pack::Pack pack = pack_of({6, 6, 4}, 0, 4);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  for (const RankOutcome& rank : run_op(4, pack, config, random_inputs(config, pack, 1), options).ranks) {
    CHECK(rank.error == "rank 2 failed in forward: cause 2");
  }
}

TEST_CASE("a failed backward moves no partials") {
  RunOptions options;
  const auto plain = plain_kernel_double();
  options.kernel = [&](int rank) {
    KernelDoubleOptions failing;
    if (rank == 1) failing.before_backward = [] { throw std::runtime_error("no"); };
    return kernel_double(*plain, failing);
  };
  const pack::Pack pack = pack_of({6, 6, 4}, 0, 4);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  for (const RankOutcome& rank : run_op(4, pack, config, random_inputs(config, pack, 1), options).ranks) {
    CHECK(rank.sent_backward_bytes == 0);
    CHECK(rank.log.back().what == "error text");
  }
}

// Decorators of the two exchange seams that throw after their part of the collective is done.
class ThrowingExchangeDouble final : public Exchange {
 public:
  explicit ThrowingExchangeDouble(std::unique_ptr<Exchange> inner) : inner_(std::move(inner)) {}
  void gather(const pack::Plan& plan, const tensor::ConstView& k, const tensor::ConstView& v,
              const tensor::View& needed_k, const tensor::View& needed_v,
              comm::Transport& transport) override {
    inner_->gather(plan, k, v, needed_k, needed_v, transport);
    throw std::runtime_error("gather broke");
  }

 private:
  std::unique_ptr<Exchange> inner_;
};

class ThrowingAdjointDouble final : public Adjoint {
 public:
  explicit ThrowingAdjointDouble(std::unique_ptr<Adjoint> inner) : inner_(std::move(inner)) {}
  void scatter(const pack::Plan& plan, const tensor::ConstView& partial_d_k,
               const tensor::ConstView& partial_d_v, const tensor::View& d_k, const tensor::View& d_v,
               comm::Transport& transport) override {
    inner_->scatter(plan, partial_d_k, partial_d_v, d_k, d_v, transport);
    throw std::runtime_error("scatter broke");
  }

 private:
  std::unique_ptr<Adjoint> inner_;
};

TEST_CASE("an exchange or adjoint that fails on one rank leaves nobody alone") {
  const pack::Pack pack = pack_of({6, 6, 4}, 0, 4);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  const Inputs inputs = random_inputs(config, pack, 1);
  RunOptions options;
  options.seams = [](int rank) {
    Seams seams;
    if (rank == 3) {
      seams.exchange = [](auto inner) { return std::make_unique<ThrowingExchangeDouble>(std::move(inner)); };
    }
    return seams;
  };
  for (const RankOutcome& rank : run_op(4, pack, config, inputs, options).ranks) {
    CHECK(rank.error == "rank 3 failed in forward: gather broke");
  }
  options.seams = [](int rank) {
    Seams seams;
    if (rank == 1) {
      seams.adjoint = [](auto inner) { return std::make_unique<ThrowingAdjointDouble>(std::move(inner)); };
    }
    return seams;
  };
  for (const RankOutcome& rank : run_op(4, pack, config, inputs, options).ranks) {
    CHECK(rank.error == "rank 1 failed in adjoint: scatter broke");
  }
}

TEST_CASE("a shard of the wrong shape or dtype on one rank is the same error on all") {
  const pack::Pack pack = pack_of({5, 3}, 0, 2);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  const Inputs inputs = random_inputs(config, pack, 1);
  std::vector<RankOutcome> forward(2), backward(2);
  Results results = empty_results(config, pack);
  const auto plain = plain_kernel_double();
  comm::run_threads(2, [&](comm::World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    Attention op(config, pack, *world.group(2), *plain, *plain);
    const std::int64_t begin = op.plan().global_row();
    ForwardShard shard = forward_shard(inputs, begin, 4);
    if (rank == 0) shard.k = shard.k.slice(tensor::Axis::token, 0, 3);
    note_consensus_error(forward[rank], [&] { (void)op.forward(shard, forward_results(results, begin, 4)); });

    const Saved saved = op.forward(forward_shard(inputs, begin, 4), forward_results(results, begin, 4));
    BackwardShard back = backward_shard(inputs, results, begin, 4);
    if (rank == 1) back.lse = back.d_out;
    note_consensus_error(backward[rank],
                         [&] { op.backward(saved, back, backward_results(results, begin, 4)); });
  });
  for (const RankOutcome& rank : forward) {
    CHECK(rank.error ==
          "rank 0 failed in forward: k is fp64 [token 3, head 2, dim 3], expected fp64 [token 4, head 2, dim "
          "3]");
  }
  for (const RankOutcome& rank : backward) {
    CHECK(rank.error ==
          "rank 1 failed in backward: lse is fp64 [token 4, head 4, dim 2], expected fp64 [token 4, head 4]");
  }
}

TEST_CASE("a rank that goes backward while the others go forward is no silent success") {
  const pack::Pack pack = pack_of({8}, 0, 2);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  const Inputs inputs = random_inputs(config, pack, 1);
  const auto plain = plain_kernel_double();
  std::atomic<int> thrown = 0;
  Results results = empty_results(config, pack);
  comm::run_threads(2, [&](comm::World& world) {
    Attention op(config, pack, *world.group(2), *plain, *plain);
    const std::int64_t begin = op.plan().global_row();
    const Saved saved = op.forward(forward_shard(inputs, begin, 4), forward_results(results, begin, 4));
    try {
      if (world.rank() == 0) {
        (void)op.forward(forward_shard(inputs, begin, 4), forward_results(results, begin, 4));
      } else {
        op.backward(saved, backward_shard(inputs, results, begin, 4), backward_results(results, begin, 4));
      }
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  });
  CHECK(thrown == 2);
}

TEST_CASE("errors of the transport pass through unchanged") {
  const pack::Pack pack = pack_of({8}, 0, 2);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  const Inputs inputs = random_inputs(config, pack, 1);
  const auto plain = plain_kernel_double();
  std::atomic<int> hangs = 0;
  Results results = empty_results(config, pack);
  comm::run_threads(2, [&](comm::World& world) {
    Attention op(config, pack, *world.group(2), *plain, *plain);
    const std::int64_t begin = op.plan().global_row();
    if (world.rank() == 1) return;  // never takes part in the forward
    try {
      (void)op.forward(forward_shard(inputs, begin, 4), forward_results(results, begin, 4));
    } catch (const comm::CommError&) {
      ++hangs;
    }
  });
  CHECK(hangs == 1);
}

}  // namespace
}  // namespace straddle::cp
