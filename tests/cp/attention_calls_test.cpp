// What the op does besides its values: operations, bytes, recompute, the views it takes.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "comm/world.hpp"
#include "cp/attention.hpp"
#include "cpu/kernels.hpp"
#include "pack/cost.hpp"
#include "support/doubles.hpp"
#include "support/packs.hpp"
#include "support/run.hpp"
#include "support/values.hpp"

namespace straddle::cp {
namespace {

using pack::ExchangeKind;
using tensor::Axis;
using tensor::DType;
using tensor::Tensor;
using namespace testing;

constexpr ExchangeKind kKinds[] = {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a};

TEST_CASE("bytes are the closed form: storage type forward, accumulation type backward") {
  for (const NamedPack& named : named_packs()) {
    for (const ExchangeKind kind : kKinds) {
      const pack::Pack pack = pack_of(named.documents, named.padding, named.ranks);
      const AttentionConfig config = config_of(kind, DType::bf16);
      const Inputs inputs = random_inputs(config, pack, 1);
      const Run run = run_op(named.ranks, pack, config, inputs);
      std::int64_t forward = 0, backward = 0;
      for (const RankOutcome& rank : run.ranks) {
        forward += rank.sent_forward_bytes;
        backward += rank.sent_backward_bytes;
      }
      const ExchangeKind taken = run.ranks[0].path->taken;
      const std::int64_t elements =
          pack::kv_elements_per_token(2, 3, 2) * pack::moved_rows(taken, pack, named.ranks);
      CAPTURE(pack::name(kind));
      CAPTURE(named.ranks);
      CHECK(forward == elements * 2);
      CHECK(backward == elements * 4);
    }
  }
}

TEST_CASE("every rank makes the same operations in the same order, with rows or without") {
  const pack::Pack pack = pack_of({6}, 6, 3);
  for (const ExchangeKind kind : kKinds) {
    const AttentionConfig config = config_of(kind);
    const Run run = run_op(3, pack, config, random_inputs(config, pack, 1));
    std::vector<std::string> first;
    for (const comm::Operation& op : run.ranks[0].log) first.push_back(op.what);
    CHECK(first == std::vector<std::string>{"preflight", "K/V forward", "consensus", "consensus",
                                            "dK/dV backward", "consensus"});
    for (const RankOutcome& rank : run.ranks) {
      REQUIRE(rank.log.size() == first.size());
      for (std::size_t i = 0; i < first.size(); ++i) {
        CHECK(rank.log[i].what == first[i]);
        CHECK(rank.log[i].kind == run.ranks[0].log[i].kind);
      }
    }
  }
}

TEST_CASE("recompute, and a newly made op: the same bits by the same operations") {
  const pack::Pack pack = pack_of({2, 11, 3}, 0, 4);
  const AttentionConfig config = config_of(ExchangeKind::a2a, DType::bf16);
  const Inputs inputs = random_inputs(config, pack, 2);
  Results once = empty_results(config, pack), again = empty_results(config, pack);
  Results anew = empty_results(config, pack);
  std::atomic<int> different_logs = 0, different_saved = 0;
  comm::run_threads(4, [&](comm::World& world) {
    const auto kernel = cpu::blockwise_kernel();
    const auto dense = cpu::dense_kernel();
    comm::Recorder recorder;
    const auto transport = comm::record(*world.group(4), recorder);
    const auto log_of = [&](const std::function<void()>& body) {
      recorder.clear();
      body();
      std::vector<std::pair<std::string, std::int64_t>> log;
      for (const comm::Operation& op : recorder.log()) log.emplace_back(op.what, op.sent_bytes);
      return log;
    };
    Attention op(config, pack, *transport, *kernel, *dense);
    const std::int64_t begin = op.plan().global_row(), rows = op.plan().rows_per_rank;
    const ForwardShard shard = forward_shard(inputs, begin, rows);
    Saved first, second;
    const auto log = log_of([&] { first = op.forward(shard, forward_results(once, begin, rows)); });
    different_logs += log != log_of([&] { second = op.forward(shard, forward_results(again, begin, rows)); });
    different_logs += log.size() != 2;
    different_saved += !same_bits(first.needed_k.view(), second.needed_k.view());
    different_saved += !same_bits(first.needed_v.view(), second.needed_v.view());
    op.backward(first, backward_shard(inputs, once, begin, rows), backward_results(once, begin, rows));
    op.backward(second, backward_shard(inputs, again, begin, rows), backward_results(again, begin, rows));

    Attention new_op(config, pack, *transport, *kernel, *dense);
    run_rank(new_op, inputs, anew);
  });
  CHECK(different_logs == 0);
  CHECK(different_saved == 0);
  for (const Results* other : {&again, &anew}) {
    CHECK(same_forward_and_d_q(once, *other));
    CHECK(same_bits(once.d_k.view(), other->d_k.view()));
    CHECK(same_bits(once.d_v.view(), other->d_v.view()));
  }
}

TEST_CASE("what a rank did not receive is NaN in the buffers that an exchange gets") {
  class LooksFirst final : public Exchange {
   public:
    LooksFirst(std::unique_ptr<Exchange> inner, std::atomic<int>& numbers)
        : inner_(std::move(inner)), numbers_(numbers) {}
    void gather(const pack::Plan& plan, const tensor::ConstView& k, const tensor::ConstView& v,
                const tensor::View& needed_k, const tensor::View& needed_v,
                comm::Transport& transport) override {
      for (const tensor::ConstView& view : {tensor::ConstView(needed_k), tensor::ConstView(needed_v)}) {
        for (const double value : values_of(view)) numbers_ += value == value;
      }
      inner_->gather(plan, k, v, needed_k, needed_v, transport);
    }

   private:
    std::unique_ptr<Exchange> inner_;
    std::atomic<int>& numbers_;
  };
  std::atomic<int> numbers = 0;
  RunOptions options;
  options.seams = [&](int) {
    Seams seams;
    seams.exchange = [&](std::unique_ptr<Exchange> inner) {
      return std::make_unique<LooksFirst>(std::move(inner), numbers);
    };
    return seams;
  };
  const pack::Pack pack = pack_of({5, 3}, 0, 2);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  const Run run = run_op(2, pack, config, random_inputs(config, pack, 1), options);
  CHECK(run.ranks[0].error.empty());
  CHECK(numbers == 0);
}

TEST_CASE("strided shards are read by their strides") {
  const pack::Pack pack = pack_of({5, 3}, 0, 2);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  const Inputs inputs = random_inputs(config, pack, 4);
  const Results expected = by_definition(config, pack, inputs);
  // [token, head, dim] with heads outermost in memory (tensors as frameworks often hold them).
  const auto head_major = [](const Tensor& from, std::vector<double>& memory) {
    const std::int64_t tokens = from.shape().size(Axis::token), dim = from.shape().size(Axis::dim);
    memory.resize(static_cast<std::size_t>(from.shape().numel()));
    tensor::View view(reinterpret_cast<std::byte*>(memory.data()), DType::fp64, from.shape(),
                      {dim, tokens * dim, 1});
    tensor::convert(from.view(), view);
    return tensor::ConstView(view);
  };
  std::vector<double> k_memory, v_memory;
  const tensor::ConstView k = head_major(inputs.k, k_memory), v = head_major(inputs.v, v_memory);
  REQUIRE(!k.contiguous());
  Results results = empty_results(config, pack);
  const auto plain = plain_kernel_double();
  comm::run_threads(2, [&](comm::World& world) {
    Attention op(config, pack, *world.group(2), *plain, *plain);
    const std::int64_t begin = op.plan().global_row();
    ForwardShard shard = forward_shard(inputs, begin, 4);
    shard.k = k.slice(Axis::token, begin, 4);
    shard.v = v.slice(Axis::token, begin, 4);
    const Saved saved = op.forward(shard, forward_results(results, begin, 4));
    op.backward(saved, backward_shard(inputs, results, begin, 4), backward_results(results, begin, 4));
  });
  CHECK(worst_difference(results, expected) < 1e-13);
}

TEST_CASE("a gradient of lse is optional") {
  const pack::Pack pack = pack_of({5, 2}, 1, 2);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  Inputs inputs = random_inputs(config, pack, 6);
  assign(std::vector<double>(static_cast<std::size_t>(inputs.d_lse.shape().numel()), 0.0),
         inputs.d_lse.view());
  const Results expected = by_definition(config, pack, inputs);
  Results results = empty_results(config, pack);
  const auto plain = plain_kernel_double();
  comm::run_threads(2, [&](comm::World& world) {
    Attention op(config, pack, *world.group(2), *plain, *plain);
    const std::int64_t begin = op.plan().global_row();
    const Saved saved = op.forward(forward_shard(inputs, begin, 4), forward_results(results, begin, 4));
    BackwardShard shard = backward_shard(inputs, results, begin, 4);
    shard.d_lse.reset();
    op.backward(saved, shard, backward_results(results, begin, 4));
  });
  CHECK(worst_difference(results, expected) < 1e-13);
}

}  // namespace
}  // namespace straddle::cp
