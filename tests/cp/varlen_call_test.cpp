#include "cp/varlen_call.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
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
using Offsets = std::vector<std::int32_t>;

TEST_CASE("one kernel call for all segments, or the asymmetric first one apart") {
  // W2 [6,1,1]: rank 1 has the last 2 rows of document 0 with 4 to their left, then two documents of 1.
  const pack::Plan plan = pack::make_plan(pack_of({6, 1, 1}, 0, 2), 2, 1);
  const auto together = kernel_calls(plan, false);
  REQUIRE(together.size() == 1);
  CHECK(together[0].cu_seqlens_q == Offsets{0, 2, 3, 4});
  CHECK(together[0].cu_seqlens_k == Offsets{0, 6, 7, 8});
  CHECK(together[0].max_seqlen_q == 2);
  CHECK(together[0].max_seqlen_k == 6);

  const auto apart = kernel_calls(plan, true);
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].cu_seqlens_q == Offsets{0, 2});
  CHECK(apart[0].cu_seqlens_k == Offsets{0, 6});
  CHECK(apart[0].max_seqlen_q == 2);
  CHECK(apart[0].max_seqlen_k == 6);
  CHECK(apart[1].query_begin == 2);
  CHECK(apart[1].key_begin == 6);
  CHECK(apart[1].cu_seqlens_q == Offsets{0, 1, 2});
  CHECK(apart[1].cu_seqlens_k == Offsets{0, 1, 2});
  CHECK(apart[1].max_seqlen_q == 1);
  CHECK(apart[1].max_seqlen_k == 1);
}

TEST_CASE("no cut where the first segment is symmetric or alone, no call without rows") {
  CHECK(kernel_calls(pack::make_plan(pack_of({6, 1, 1}, 0, 2), 2, 0), true).size() == 1);
  CHECK(kernel_calls(pack::make_plan(pack_of({2, 2, 2, 2}, 0, 2), 2, 1), true).size() == 1);
  CHECK(kernel_calls(pack::make_plan(pack_of({8}, 0, 2), 2, 1), true).size() == 1);
  CHECK(kernel_calls(pack::make_plan(pack_of({4}, 4, 2), 2, 1), false).empty());
}

TEST_CASE("real rows of a gapped shard") {
  // Slots: document 0 at [1,6), document 1 at [9,11); W2, L = 6: rank 1 owns [6,12).
  const pack::Pack pack =
      pack::from_starts(std::vector<std::int64_t>{1, 9}, std::vector<std::int64_t>{7, 2}, 12);
  const pack::Plan plan = pack::make_plan(pack, 2, 1);
  REQUIRE(plan.straddle == 5);
  REQUIRE(!plan.compact());
  const RealRows queries = real_query_rows(plan), keys = real_key_rows(plan);
  CHECK(queries.rows == 6);
  CHECK(queries.runs == std::vector<RowRun>{{0, 0, 2}, {3, 2, 2}});
  CHECK(queries.count() == 4);
  CHECK(!queries.prefix());
  CHECK(keys.rows == 11);
  CHECK(keys.runs == std::vector<RowRun>{{0, 0, 7}, {8, 7, 2}});
}

TEST_CASE("a compact shard goes to the kernel in place: n_r queries and b_r + n_r keys") {
  const pack::Pack pack = pack_of({5, 2}, 1, 2);
  const AttentionConfig config = config_of(ExchangeKind::a2a);
  const Inputs inputs = random_inputs(config, pack, 1);
  Results results = empty_results(config, pack);
  std::vector<int> calls(2), wrong(2);
  comm::run_threads(2, [&](comm::World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    const auto plain = plain_kernel_double();
    const tensor::ConstView q = inputs.q.view().slice(tensor::Axis::token, world.rank() * 4, 4);
    KernelDoubleOptions options;
    const pack::Plan plan = pack::make_plan(pack, 2, world.rank());
    options.see_problem = [&](const kernel::VarlenProblem& problem) {
      ++calls[rank];
      wrong[rank] += problem.q.data() != q.data();
      wrong[rank] += problem.q.size(tensor::Axis::token) != plan.real_rows;
      wrong[rank] += problem.k.size(tensor::Axis::token) != plan.straddle + plan.real_rows;
      wrong[rank] += problem.v.size(tensor::Axis::token) != plan.straddle + plan.real_rows;
    };
    const auto kernel = kernel_double(*plain, options);
    Attention op(config, pack, *world.group(2), *kernel, *plain);
    run_rank(op, inputs, results);
  });
  CHECK(calls == std::vector<int>{2, 2});
  CHECK(wrong == std::vector<int>{0, 0});
}

// Inputs are NaN on padding (random_inputs): no real row may see it, and every padding row must be written.
TEST_CASE("padding rows of results are 0 and -inf whatever inputs hold there") {
  const pack::Pack packs[] = {
      pack_of({1, 7, 3}, 5, 4), pack_of({5}, 3, 4),
      pack::from_starts(std::vector<std::int64_t>{1, 9}, std::vector<std::int64_t>{7, 2}, 12)};
  for (const pack::Pack& pack : packs) {
    const auto documents = document_of_slots(pack);
    for (const tensor::DType dtype : {tensor::DType::fp64, tensor::DType::bf16}) {
      for (const ExchangeKind kind : {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a}) {
        const AttentionConfig config = config_of(kind, dtype);
        const Run run = run_op(4, pack, config, random_inputs(config, pack, 9));
        CHECK(run.ranks[0].error.empty());
        int wrong = 0;
        const auto count = [&](const tensor::Tensor& tensor, double padding) {
          const auto values = values_of(tensor.view());
          const std::size_t row = values.size() / documents.size();
          for (std::size_t i = 0; i < values.size(); ++i) {
            const bool real = documents[i / row] >= 0;
            wrong += real ? !std::isfinite(values[i])
                          : values[i] != padding || std::signbit(values[i]) != std::signbit(padding);
          }
        };
        for (const auto* tensor : {&run.results.out, &run.results.d_q, &run.results.d_k, &run.results.d_v}) {
          count(*tensor, 0.0);
        }
        count(run.results.lse, -INFINITY);
        CHECK(wrong == 0);
      }
    }
  }
}

}  // namespace
}  // namespace straddle::cp
