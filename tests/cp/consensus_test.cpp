#include "cp/consensus.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>

#include "comm/recorder.hpp"
#include "comm/world.hpp"
#include "cp/attention.hpp"
#include "support/run.hpp"

namespace straddle::cp {
namespace {

using namespace testing;

// What each of three ranks saw of one consensus.
std::array<RankOutcome, 3> meet(const std::function<Step(int rank)>& step,
                                const std::function<std::optional<std::string>(int rank)>& failure) {
  std::array<RankOutcome, 3> outcomes;
  comm::run_threads(3, [&](comm::World& world) {
    const int rank = world.rank();
    RankOutcome& outcome = outcomes[static_cast<std::size_t>(rank)];
    comm::Recorder recorder;
    const auto transport = comm::record(*world.group(3), recorder);
    note_consensus_error(outcome, [&] { reach_consensus(step(rank), failure(rank), *transport); });
    outcome.log = recorder.log();
  });
  return outcomes;
}

Step step_one(int) { return {"forward", 17, "forward, call 1"}; }

TEST_CASE("consensus: ranks that agree go on after one small all-reduce") {
  for (const RankOutcome& rank : meet(step_one, [](int) { return std::nullopt; })) {
    CHECK(rank.error.empty());
    REQUIRE(rank.log.size() == 1);
    CHECK(rank.log[0].what == "consensus");
    CHECK(rank.log[0].kind == comm::OpKind::all_reduce);
  }
}

TEST_CASE("consensus: the first rank that failed is named on all, with its step and words") {
  const auto outcomes = meet(step_one, [](int rank) -> std::optional<std::string> {
    if (rank == 0) return std::nullopt;
    return rank == 1 ? "out of memory" : "illegal address";
  });
  for (const RankOutcome& rank : outcomes) {
    CHECK(rank.error == "rank 1 failed in forward: out of memory");
    CHECK(rank.failed_rank == 1);
    CHECK(rank.step == "forward");
  }
}

TEST_CASE("consensus: a failure without words is a failure all the same") {
  const auto outcomes = meet(step_one, [](int rank) -> std::optional<std::string> {
    if (rank == 2) return "";
    return std::nullopt;
  });
  for (const RankOutcome& rank : outcomes) CHECK(rank.error == "rank 2 failed in forward: ");
}

TEST_CASE("consensus: a rank at another step is found whichever side of the others its hash lies on") {
  for (const std::uint64_t other : {std::uint64_t{3}, std::uint64_t{99}, ~std::uint64_t{0}}) {
    for (const int odd : {0, 1, 2}) {
      const auto outcomes = meet(
          [&](int rank) {
            return rank == odd ? Step{"backward", other, "backward, call 2"} : step_one(rank);
          },
          [](int) { return std::nullopt; });
      for (const RankOutcome& rank : outcomes) {
        CHECK(rank.error == "rank " + std::to_string(odd) +
                                " failed in consensus: ranks disagree about case or plan: rank " +
                                std::to_string(odd) + " is at backward, call 2; rank " +
                                std::to_string(odd == 0 ? 1 : 0) + " is at forward, call 1");
      }
    }
  }
}

TEST_CASE("consensus: long texts are cut and say so") {
  std::vector<std::string> texts;
  comm::run_threads(2, [&](comm::World& world) {
    const auto all = gather_texts(std::string(world.rank() == 0 ? 5 : 5000, 'x'), *world.group(2));
    if (world.rank() == 0) texts = all;
  });
  REQUIRE(texts.size() == 2);
  CHECK(texts[0] == "xxxxx");
  CHECK(texts[1] == std::string(1020, 'x') + "...");
}

TEST_CASE("Failure keeps the first cause and lets errors of the transport pass") {
  Failure failure;
  int runs = 0;
  failure.attempt([&] { ++runs; });
  CHECK(!failure.cause());
  failure.attempt([&] { throw std::runtime_error("first"); });
  failure.attempt([&] { ++runs; });
  CHECK(runs == 1);
  failure.attempt_always([&] {
    ++runs;
    throw std::runtime_error("second");
  });
  CHECK(runs == 2);
  CHECK(*failure.cause() == "first");
  CHECK_THROWS_AS(failure.attempt_always([] { throw comm::HangError("deadline"); }), comm::HangError);
  Failure odd;
  odd.attempt([] { throw 7; });
  CHECK(*odd.cause() == "an exception that is no std::exception");
}

TEST_CASE("mix: values and their order count") {
  CHECK(mix(1, 2) != mix(1, 3));
  CHECK(mix(mix(0, 1), 2) != mix(mix(0, 2), 1));
}

}  // namespace
}  // namespace straddle::cp
