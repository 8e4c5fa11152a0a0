#include "cp/attention.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "comm/world.hpp"
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

// d_k and d_v of the documents that lie on one rank of W.
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

struct Case {
  pack::Pack pack;
  Inputs inputs;  // NaN on padding
  Results alone;  // W = 1
  Results expected;
  std::vector<Results> results;  // of each exchange
};

TEST_CASE(
    "for every pack of up to 8 slots, gapped ones too, every W and exchange: the definition, and the bits of "
    "W = 1") {
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  const auto plain = plain_kernel_double();
  const auto dense = kernel_double(*plain, {.varlen = false});
  std::vector<Case> cases;
  const auto add = [&](const pack::Pack& pack) {
    Case c{pack, random_inputs(config, pack, cases.size()), empty_results(config, pack), {}, {}};
    const auto transport = comm::self_transport();
    Attention op(config, pack, *transport, *plain, *dense);
    run_rank(op, c.inputs, c.alone);
    c.expected = by_definition(config, pack, c.inputs);
    cases.push_back(std::move(c));
  };
  for (std::int64_t slots = 1; slots <= 8; ++slots) for_every_pack(slots, add);
  for_every_gapped_pack(4, add);
  for_every_gapped_pack(6, [&](const pack::Pack& pack) {
    if (pack.gapped() && pack.documents.size() == 2) add(pack);
  });
  for (const Case& c : cases) {
    CAPTURE(c.pack.documents.size());
    REQUIRE(worst_difference(c.alone, c.expected) < 1e-13);
  }

  for (int ranks = 2; ranks <= 8; ++ranks) {
    CAPTURE(ranks);
    std::vector<Case*> fitting;
    for (Case& c : cases) {
      if (c.pack.slots % ranks != 0) continue;
      fitting.push_back(&c);
      c.results.clear();
      for (std::size_t i = 0; i < std::size(kKinds); ++i) c.results.push_back(empty_results(config, c.pack));
    }
    comm::run_threads(ranks, [&](comm::World& world) {
      for (Case* c : fitting) {
        for (std::size_t i = 0; i < std::size(kKinds); ++i) {
          AttentionConfig asked = config;
          asked.exchange = kKinds[i];
          asked.first_segment_apart = i == 1;
          Attention op(asked, c->pack, *world.group(ranks), *plain, *dense);
          run_rank(op, c->inputs, c->results[i]);
        }
      }
    });
    int wrong_values = 0, wrong_bits = 0, wrong_gradients = 0;
    for (const Case* c : fitting) {
      for (const Results& results : c->results) {
        wrong_values += !(worst_difference(results, c->expected) < 1e-13);
        wrong_bits += !same_forward_and_d_q(results, c->alone);
        wrong_gradients += !same_gradients_of_uncut_documents(results, c->alone, c->pack, ranks);
      }
    }
    CHECK(wrong_values == 0);
    CHECK(wrong_bits == 0);
    CHECK(wrong_gradients == 0);
  }
}

// The pack that sees most faults, and one document over three ranks.
struct Named {
  std::vector<std::int64_t> documents;
  std::int64_t padding;
  int ranks;
};
const Named kNamed[] = {
    {{1, 6, 3}, 2, 2}, {{2, 11, 3}, 0, 4}, {{1, 7, 3}, 5, 4}, {{6}, 6, 3}, {{65, 3}, 0, 2}};

TEST_CASE(
    "with the kernels on the CPU, out, lse and d_q have the bits of W = 1 in every storage type, exchange "
    "and cut of the first segment") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16}) {
    for (const Named& named : kNamed) {
      AttentionConfig config = config_of(ExchangeKind::a2a, dtype);
      config.head_dim = 8;
      config.v_head_dim = 4;
      const pack::Pack pack = pack_of(named.documents, named.padding, named.ranks);
      const Inputs inputs = random_inputs(config, pack, 7);
      RunOptions options;
      options.kernel = [](int) { return cpu::blockwise_kernel(); };
      options.dense = [](int) { return cpu::dense_kernel(); };
      const Run alone = run_op(1, pack, config, inputs, options);
      const double rounding = dtype == DType::fp64   ? 1e-13
                              : dtype == DType::fp32 ? 1e-5
                              : dtype == DType::bf16 ? 6e-2
                                                     : 1e-2;
      CHECK(worst_difference(alone.results, by_definition(config, pack, inputs)) < rounding);
      for (const ExchangeKind kind : kKinds) {
        for (const bool apart : {false, true}) {
          CAPTURE(tensor::name(dtype));
          CAPTURE(pack::name(kind));
          CAPTURE(named.ranks);
          CAPTURE(apart);
          config.exchange = kind;
          config.first_segment_apart = apart;
          const Run run = run_op(named.ranks, pack, config, inputs, options);
          CHECK(same_forward_and_d_q(run.results, alone.results));
          CHECK(same_gradients_of_uncut_documents(run.results, alone.results, pack, named.ranks));
          CHECK(worst_difference(run.results, alone.results) < rounding);
        }
      }
    }
  }
}

TEST_CASE("the dense kernel takes allgather, whatever was asked for, and agrees with the definition") {
  const pack::Pack pack = pack_of({2, 11, 3}, 0, 4);
  const AttentionConfig config = config_of(ExchangeKind::halo);
  const Inputs inputs = random_inputs(config, pack, 3);
  RunOptions options;
  options.kernel = options.dense = [](int) { return cpu::dense_kernel(); };
  const Run run = run_op(4, pack, config, inputs, options);
  CHECK(worst_difference(run.results, by_definition(config, pack, inputs)) < 1e-13);
  for (const RankOutcome& rank : run.ranks) {
    REQUIRE(rank.path);
    CHECK(rank.path->taken == ExchangeKind::allgather);
    CHECK(rank.path->reason == pack::PathReason::kernel_not_varlen);
  }
}

TEST_CASE("reduce = library changes d_k, d_v of a cut document at most, and those by rounding") {
  const pack::Pack pack = pack_of({1, 6, 3}, 2, 4);
  AttentionConfig config = config_of(ExchangeKind::allgather);
  const Inputs inputs = random_inputs(config, pack, 5);
  const Run ordered = run_op(4, pack, config, inputs);
  config.reduce = Reduce::library;
  const Run library = run_op(4, pack, config, inputs);
  CHECK(same_forward_and_d_q(ordered.results, library.results));
  CHECK(same_gradients_of_uncut_documents(ordered.results, library.results, pack, 4));
  CHECK(worst_difference(ordered.results, library.results) < 1e-13);
  CHECK(std::ranges::any_of(library.ranks[0].log, [](const comm::Operation& op) {
    return op.kind == comm::OpKind::reduce_scatter;
  }));
}

TEST_CASE(
    "the recorder's bytes are the closed form of each exchange, forward in storage and backward in "
    "accumulation type") {
  for (const Named& named : kNamed) {
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

TEST_CASE(
    "recompute: a forward called again, and one of a newly made op, give the same bits by the same "
    "operations") {
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
