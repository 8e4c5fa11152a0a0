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

struct Case {
  pack::Pack pack;
  Inputs inputs;  // NaN on padding
  Results alone;  // W = 1
  Results expected;
  std::vector<Results> results;  // of each exchange
};

TEST_CASE("every small pack, W and exchange: the values of the definition, the bits of W = 1") {
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

TEST_CASE("the CPU's kernels in every storage type: out, lse and d_q have the bits of W = 1") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16}) {
    for (const NamedPack& named : named_packs()) {
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

}  // namespace
}  // namespace straddle::cp
