#include "cp/preflight.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "comm/world.hpp"
#include "support/doubles.hpp"
#include "support/packs.hpp"
#include "support/run.hpp"
#include "support/values.hpp"

namespace straddle::cp {
namespace {

using pack::ExchangeKind;
using pack::PathReason;
using pack::Plan;
using namespace testing;

// W4 [6,6,4]: b = 0 4 2 0; rank 0 sends rows 0-4 to rank 1, rank 1 sends 6-8 to rank 2.
const std::vector<std::int64_t> kDocuments{6, 6, 4};

RunOptions mutate_plan_of(int mutated, const std::function<void(Plan&)>& mutation) {
  RunOptions options;
  options.seams = [=](int rank) {
    Seams seams;
    if (rank == mutated) {
      seams.plan = [=](Plan plan) {
        mutation(plan);
        return plan;
      };
    }
    return seams;
  };
  return options;
}

Run run_with(const RunOptions& options, ExchangeKind kind = ExchangeKind::a2a) {
  const pack::Pack pack = pack_of(kDocuments, 0, 4);
  const AttentionConfig config = config_of(kind);
  return run_op(4, pack, config, random_inputs(config, pack, 1), options);
}

// All ranks refused with this error before any K/V moved.
void check_refused(const Run& run, int failed_rank, const std::string& step, const std::string& cause) {
  for (const RankOutcome& rank : run.ranks) {
    CHECK(rank.error == "rank " + std::to_string(failed_rank) + " failed in " + step + ": " + cause);
    CHECK(rank.failed_rank == failed_rank);
    CHECK(rank.step == step);
    CHECK(!rank.path);
    for (const comm::Operation& op : rank.log) CHECK((op.what == "preflight" || op.what == "error text"));
  }
}

TEST_CASE("a plan that breaks a rule on one rank is refused by all, with rank, entry and rule") {
  struct Broken {
    std::string rule_and_entry;  // what the error begins with
    std::function<void(Plan&)> mutation;
  };
  const Broken broken[] = {
      {"0 <= n_r <= L: real_rows", [](Plan& p) { p.real_rows = 5; }},
      {"0 <= key_begin <= S: key_begin", [](Plan& p) { p.key_begin = -1; }},
      {"key_begin <= key_end <= S: key_end", [](Plan& p) { p.key_end = 17; }},
      {"cu_seqlens_q starts at 0: cu_seqlens_q[0]", [](Plan& p) { p.cu_seqlens_q[0] = 1; }},
      {"cu_seqlens_k starts at 0: cu_seqlens_k[0]", [](Plan& p) { p.cu_seqlens_k[0] = 4; }},
      {"cu_seqlens_q is strictly increasing: cu_seqlens_q[1]", [](Plan& p) { p.cu_seqlens_q[1] = 0; }},
      {"cu_seqlens_q ends at n_r: cu_seqlens_q[2]", [](Plan& p) { p.cu_seqlens_q.back() = 3; }},
      {"cu_seqlens_k ends at b_r + n_r: cu_seqlens_k[2]", [](Plan& p) { p.cu_seqlens_k.back() = 9; }},
      {"cu_seqlens_q and cu_seqlens_k have equally many entries: cu_seqlens_k",
       [](Plan& p) { p.cu_seqlens_k.pop_back(); }},
      {"k_0 = q_0 + b_r, at least q_0: k of segment 0", [](Plan& p) { p.cu_seqlens_k[1] -= 1; }},
      {"max_seqlen_q is the longest q: max_seqlen_q", [](Plan& p) { p.max_seqlen_q -= 1; }},
      {"max_seqlen_k is the longest k: max_seqlen_k", [](Plan& p) { p.max_seqlen_k += 1; }},
      {"segments agree with cu_seqlens_q: segments[1].queries", [](Plan& p) { p.segments[1].queries = 1; }},
      {"received rows sum to b_r: receives", [](Plan& p) { p.receives[0].rows = 3; }},
      {"the plan is of this rank, group and pack: rank", [](Plan& p) {
         const pack::Pack pack = pack_of(kDocuments, 0, 4);
         p = pack::make_plan(pack, 4, 0);
       }}};
  for (const ExchangeKind kind : {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a}) {
    for (const Broken& b : broken) {
      CAPTURE(b.rule_and_entry);
      const Run run = run_with(mutate_plan_of(1, b.mutation), kind);
      const std::string error = run.ranks[0].error;
      const std::string prefix = "rank 1 failed in plan: ";
      REQUIRE(error.starts_with(prefix + b.rule_and_entry + " is "));
      check_refused(run, 1, "plan", error.substr(prefix.size()));
    }
  }
}

TEST_CASE("R46: a send and a receive that disagree are refused, pair and both counts named") {
  const auto sends_one_less = mutate_plan_of(0, [](Plan& plan) { plan.sends[0].rows = 3; });
  for (const ExchangeKind kind : {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a}) {
    check_refused(
        run_with(sends_one_less, kind), 0, "plan",
        "what a rank sends is what its peer expects: rows from rank 0 to rank 1 is 3 sent, expected 4 by "
        "rank 1");
  }
}

TEST_CASE("equal counts of other rows are refused too") {
  const auto sends_rows_before = mutate_plan_of(1, [](Plan& plan) { plan.sends[0].global_begin = 5; });
  check_refused(
      run_with(sends_rows_before), 1, "plan",
      "what a rank sends is what its peer expects: first row from rank 1 to rank 2 is 5 sent, expected 6 "
      "by rank 2");
}

TEST_CASE("X1: a halo as wide as the rank's own straddle is refused where another needs more") {
  const auto own_width = mutate_plan_of(2, [](Plan& plan) { plan.max_straddle = plan.straddle; });
  check_refused(run_with(own_width, ExchangeKind::halo), 2, "plan",
                "max_straddle is the largest straddle of all ranks: max_straddle is 2, expected 4");
}

TEST_CASE("ranks with another case, configuration or pack are named") {
  RunOptions options;
  options.configure = [](int rank, AttentionConfig& config) { config.case_hash = rank == 3 ? 0xb : 0xa; };
  Run run = run_with(options);
  CHECK(run.ranks[0].error.find("ranks disagree about case or configuration: hash ") != std::string::npos);
  check_refused(run, 3, "preflight",
                run.ranks[0].error.substr(std::string("rank 3 failed in preflight: ").size()));

  options.configure = [](int rank, AttentionConfig& config) { config.softmax_scale = rank == 2 ? 0.5 : 0.6; };
  CHECK(run_with(options).ranks[1].failed_rank == 2);

  const pack::Pack pack = pack_of(kDocuments, 0, 4), other = pack_of({6, 6, 3, 1}, 0, 4);
  options = {};
  options.pack = [&](int rank) -> const pack::Pack& { return rank == 1 ? other : pack; };
  run = run_with(options);
  CHECK(run.ranks[0].error.find("ranks disagree about the pack: hash ") != std::string::npos);
  CHECK(run.ranks[3].failed_rank == 1);
}

TEST_CASE("a pack or configuration that fits no op is the same error on all ranks") {
  const pack::Pack uneven = pack::from_lengths(std::vector<std::int64_t>{6, 6, 3});  // 15 slots
  RunOptions options;
  options.pack = [&](int) -> const pack::Pack& { return uneven; };
  CHECK(run_with(options).ranks[2].error.starts_with("rank 0 failed in plan: "));

  options = {};
  options.configure = [](int rank, AttentionConfig& config) {
    if (rank == 2) config.nodes = {0, 1};
  };
  check_refused(run_with(options), 2, "plan", "nodes has 2 entries, expected one for each of 4 ranks");

  options.configure = [](int, AttentionConfig& config) { config.reduce = Reduce::library; };
  CHECK(run_with(options).ranks[3].error.starts_with("rank 0 failed in plan: reduce = library"));
}

std::unique_ptr<kernel::Kernel> owned(kernel::Kernel& inner, KernelDoubleOptions options) {
  return kernel_double(inner, std::move(options));
}

TEST_CASE("a kernel that can't run on one rank: all take allgather and dense") {
  const auto plain = plain_kernel_double();
  RunOptions options;
  options.kernel = [&](int rank) {
    return owned(*plain, rank == 2 ? KernelDoubleOptions{.unsupported = "no device"} : KernelDoubleOptions{});
  };
  const Run run = run_with(options, ExchangeKind::halo);
  for (const RankOutcome& rank : run.ranks) {
    CHECK(rank.error.empty());
    REQUIRE(rank.path);
    CHECK(rank.path->taken == ExchangeKind::allgather);
    CHECK(rank.path->reason == PathReason::preflight_failed);
    CHECK(rank.path->detail == "the kernel of rank 2 can't run this case: no device");
    CHECK(rank.kernel == "dense");
  }
  const pack::Pack pack = pack_of(kDocuments, 0, 4);
  const AttentionConfig config = config_of(ExchangeKind::halo);
  const Results expected = by_definition(config, pack, random_inputs(config, pack, 1));
  CHECK(largest_difference(values_of(run.results.d_k.view()), values_of(expected.d_k.view())) < 1e-13);

  options.dense = [&](int rank) {
    return owned(*plain, rank == 3 ? KernelDoubleOptions{.unsupported = "too long"} : KernelDoubleOptions{});
  };
  check_refused(
      run_with(options), 3, "preflight",
      "the kernel asked for can't run on rank 2 (no device), nor the dense kernel on rank 3 (too long)");
}

TEST_CASE("a group over several nodes takes allgather, unless STRADDLE_ALLOW_XNODE is 1 on rank 0") {
  RunOptions options;
  options.configure = [](int, AttentionConfig& config) { config.nodes = {0, 0, 1, 1}; };
  const auto path_with = [&](const char* value, const std::vector<int>& nodes) {
    if (value != nullptr) ::setenv("STRADDLE_ALLOW_XNODE", value, 1);
    options.configure = [&](int, AttentionConfig& config) { config.nodes = nodes; };
    const Run run = run_with(options);
    ::unsetenv("STRADDLE_ALLOW_XNODE");
    for (const RankOutcome& rank : run.ranks) {
      REQUIRE(rank.path);
      CHECK(*rank.path == *run.ranks[0].path);
    }
    return *run.ranks[0].path;
  };
  CHECK(path_with(nullptr, {0, 0, 1, 1}).reason == PathReason::spans_nodes);
  CHECK(path_with(nullptr, {0, 0, 1, 1}).taken == ExchangeKind::allgather);
  CHECK(path_with("0", {0, 0, 1, 1}).reason == PathReason::spans_nodes);
  CHECK(path_with("1", {0, 0, 1, 1}).taken == ExchangeKind::a2a);
  CHECK(path_with(nullptr, {5, 5, 5, 5}).taken == ExchangeKind::a2a);
  CHECK(path_with(nullptr, {}).taken == ExchangeKind::a2a);
}

// Facts straight into preflight: which rank's permission counts.
TEST_CASE("only rank 0's permission to cross nodes counts") {
  const pack::Pack pack = pack_of({8}, 0, 2);
  for (const int permitted : {0, 1}) {
    std::vector<PathReason> reasons(2);
    comm::run_threads(2, [&](comm::World& world) {
      LocalFacts facts;
      facts.spans_nodes = true;
      facts.allow_xnode = world.rank() == permitted;
      const Plan plan = pack::make_plan(pack, 2, world.rank());
      reasons[static_cast<std::size_t>(world.rank())] =
          preflight(facts, plan, ExchangeKind::a2a, *world.group(2)).path.reason;
    });
    const PathReason expected = permitted == 0 ? PathReason::as_asked : PathReason::spans_nodes;
    CHECK(reasons == std::vector<PathReason>(2, expected));
  }
}

TEST_CASE("a halo shorter than a straddle is replaced by a2a") {
  const pack::Pack pack = pack_of({2, 11, 3}, 0, 4);
  const AttentionConfig config = config_of(ExchangeKind::halo);
  const Run run = run_op(4, pack, config, random_inputs(config, pack, 1));
  for (const RankOutcome& rank : run.ranks) {
    REQUIRE(rank.path);
    CHECK(rank.path->taken == ExchangeKind::a2a);
    CHECK(rank.path->reason == PathReason::halo_short);
    CHECK(rank.path->detail == "rank 3 needs 10 rows to its left, rank 2 owns 4");
  }
}

}  // namespace
}  // namespace straddle::cp
