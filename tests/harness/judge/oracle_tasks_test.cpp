#include "harness/judge/oracle_tasks.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

TEST_CASE("share_tasks: every task is somebody's, once, whatever the number of ranks") {
  Case point = make_case({300, 1, 40, 200, 7}, 0, 1, DType::fp32, {.head_dim = 64, .v_head_dim = 64});
  point.layers = 2;
  for (const int ranks : {1, 2, 3, 8, 40}) {
    const auto shares = share_tasks(point, ranks);
    REQUIRE(shares.size() == static_cast<std::size_t>(ranks));
    std::vector<int> count(2 * 5 * 2, 0);
    for (const auto& share : shares) {
      for (const OracleTask& task : share) {
        ++count[static_cast<std::size_t>((task.layer * 5 + static_cast<std::int64_t>(task.document)) * 2 +
                                         task.kv_head)];
      }
    }
    CHECK(count == std::vector<int>(2 * 5 * 2, 1));
  }
}

TEST_CASE("share_tasks: costliest first to the least loaded, within a third of the best possible") {
  // Longest processing time first is at most 4/3 of the optimum (Graham 1969).
  const Case point = make_case({100, 90, 80, 70, 60, 50, 40}, 0, 1, DType::fp32,
                               {.heads = 2, .kv_heads = 1, .head_dim = 64, .v_head_dim = 64});
  const auto shares = share_tasks(point, 3);
  double total = 0, most = 0;
  for (const auto& share : shares) {
    double load = 0;
    for (const OracleTask& task : share)
      load += attention_flop(point, point.pack.documents[task.document].length);
    total += load;
    most = std::max(most, load);
  }
  CHECK(most <= 4.0 / 3 * total / 3);
  CHECK(shares[0].front() == OracleTask{0, 0, 0});
  CHECK(shares[1].front() == OracleTask{0, 1, 0});
}

TEST_CASE("share_tasks: a tiny case is rank 0's alone") {
  const Case tiny = make_case({2, 11, 3}, 0, 4);
  CHECK(rank_zero_alone(tiny, 4));
  CHECK(share_tasks(tiny, 4)[0].size() == 6);
  CHECK(share_tasks(tiny, 4)[1].empty());
  const Case larger = make_case({96}, 0, 4, DType::fp32, {.head_dim = 64, .v_head_dim = 64});
  CHECK_FALSE(rank_zero_alone(larger, 4));
  CHECK(rank_zero_alone(larger, 1));
}

TEST_CASE("attention_flop: 4096 / 2 pairs a row on average, six products of 64 two operations each") {
  // One head, one token: q k, p v, dO v, p dO, dS k, dS q.
  const Case point =
      make_case({1}, 0, 1, DType::fp32, {.heads = 1, .kv_heads = 1, .head_dim = 64, .v_head_dim = 64});
  CHECK(attention_flop(point, 1) == 6 * 2 * 64);
  CHECK(attention_flop(point, 3) == 6 * 6 * 2 * 64);
}

}  // namespace
}  // namespace straddle::harness
