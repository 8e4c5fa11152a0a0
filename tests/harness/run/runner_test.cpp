#include "harness/run/runner.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "comm/errors.hpp"
#include "doubles.hpp"

namespace straddle::harness {
namespace {

using Texts = std::vector<std::string>;

struct Ran {
  KeepingReporter told;
  std::vector<int> codes;  // of each rank
};

// Runs cases over `ranks` threads; seams(rank) are each rank's own.
Ran run_over_threads(int ranks, const std::vector<CaseEntry>& cases, RunOptions options = {},
                     const std::function<SubjectSeams(int)>& seams = {}, int fail_after = 0) {
  Ran ran;
  ran.told.fail_after = fail_after;
  ran.codes.resize(static_cast<std::size_t>(ranks), -1);
  comm::run_threads(ranks, [&](comm::World& world) {
    RunOptions mine = options;
    if (seams) mine.seams = seams(world.rank());
    Reporter* const reporter = &ran.told;
    const auto rank = static_cast<std::size_t>(world.rank());
    ran.codes[rank] = run_cases(world, cases, mine, std::span(&reporter, 1)).exit_code;
  });
  return ran;
}

bool all_are(const std::vector<int>& codes, int code) {
  return std::all_of(codes.begin(), codes.end(), [&](int c) { return c == code; });
}

TEST_CASE("right cases pass on every rank count, exchange and dtype, and rank 0 is told of each") {
  const auto cases =
      entries_of({"W1/1,6,3+2/H4:2/D16/fp32/a2a/cpu/s7", "W2/1,6,3+2/H4:2/D16/fp32/halo/cpu/s7",
                  "W3/2,11,3+0/H4:2/D16/bf16/a2a/cpu/s7", "W4/1,7,3+5/H4:2/D16/fp16/allgather/cpu/s7",
                  "W4/2,11,3+0/H4:2/D16/fp64/a2a/cpu/s7"});
  const Ran ran = run_over_threads(4, cases);
  CHECK(ran.told.verdicts == std::vector<Verdict>(5, Verdict::pass));
  CHECK(ran.told.announced == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(ran.told.ended == std::vector<int>{0});
  CHECK(all_are(ran.codes, 0));
}

TEST_CASE("out, lse and d_q have the same checksums for every W, exchange and guard") {
  const Ran ran = run_over_threads(
      4, entries_of({"W1/2,11,3+0/H4:2/D16/fp32/a2a/cpu/s7", "W2/2,11,3+0/H4:2/D16/fp32/halo/cpu/s7",
                     "W4/2,11,3+0/H4:2/D16/fp32/a2a/cpu/s7", "W4/2,11,3+0/H4:2/D16/fp32/allgather/cpu/s7"}));
  for (const auto& sums : ran.told.checksums) {
    for (const std::string tensor : {"out", "lse", "d_q"}) {
      CHECK(sums.at(tensor) == ran.told.checksums.front().at(tensor));
    }
  }
}

TEST_CASE("one wrong element of any result turns its case into a mismatch, and the next case passes") {
  for (int spoiled = 0; spoiled < 5; ++spoiled) {
    CAPTURE(spoiled);
    std::atomic<int> calls{0};
    const auto spoil = [&](const kernel::ForwardResults* forward, const kernel::BackwardResults* backward) {
      const bool mine = spoiled < 2 ? forward != nullptr : backward != nullptr;
      if (!mine || calls++ > 0) return;
      const tensor::View view = spoiled == 0   ? forward->out
                                : spoiled == 1 ? forward->lse
                                : spoiled == 2 ? backward->d_q
                                : spoiled == 3 ? backward->d_k
                                               : backward->d_v;
      view.as<float>()[0] += 0.01F;
    };
    const auto seams = [&](int rank) {
      SubjectSeams mine;
      if (rank == 1) {
        mine.kernel = [&](std::unique_ptr<kernel::Kernel> inner) {
          return std::make_unique<SpoilingKernel>(std::move(inner), spoil);
        };
      }
      return mine;
    };
    const Ran ran = run_over_threads(
        2, entries_of({"W2/5,3+0/H2:1/D8/fp32/a2a/cpu/s7", "W2/5,3+0/H2:1/D8/fp32/a2a/cpu/s8"}), {}, seams);
    CHECK(ran.told.verdicts == std::vector<Verdict>{Verdict::mismatch, Verdict::pass});
    CHECK(all_are(ran.codes, 1));
  }
}

TEST_CASE(
    "a kernel that fails on one rank is a crash that names it, ranks end the case together, the next one "
    "passes") {
  for (const bool in_forward : {true, false}) {
    std::atomic<int> calls{0};
    const auto seams = [&](int rank) {
      SubjectSeams mine;
      if (rank != 2) return mine;
      mine.kernel = [&](std::unique_ptr<kernel::Kernel> inner) {
        return std::make_unique<SpoilingKernel>(std::move(inner), [&](const auto* forward, const auto*) {
          if ((forward != nullptr) == in_forward && calls++ == 0) throw std::runtime_error("device lost");
        });
      };
      return mine;
    };
    const Ran ran = run_over_threads(
        3, entries_of({"W3/5,4+0/H2:1/D8/fp32/a2a/cpu/s7", "W3/5,4+0/H2:1/D8/fp32/a2a/cpu/s8"}), {}, seams);
    REQUIRE(ran.told.verdicts == std::vector<Verdict>{Verdict::crash, Verdict::pass});
    CHECK(ran.told.reasons[0].find("rank 2") != std::string::npos);
    CHECK(ran.told.reasons[0].find("device lost") != std::string::npos);
    CHECK(all_are(ran.codes, 4));
  }
}

TEST_CASE(
    "a rank that skips a collective is a hang, seen at once as threads; all ranks say where they stand") {
  const auto seams = [](int rank) {
    SubjectSeams mine;
    if (rank == 1) {
      mine.transport = [](comm::Transport& inner) { return std::make_unique<SkippingTransport>(inner); };
    }
    return mine;
  };
  RunOptions patient;
  patient.timeout_s = 600;
  const Ran ran = run_over_threads(
      3, entries_of({"W3/5,4+0/H2:1/D8/fp32/a2a/cpu/s7", "W1/5,4+0/H2:1/D8/fp32/a2a/cpu/s7"}), patient,
      seams);
  REQUIRE(ran.told.verdicts == std::vector<Verdict>{Verdict::hang, Verdict::pass});
  REQUIRE(ran.told.where[0].size() == 3);
  CHECK(ran.told.where[0][0].find("all_to_all_v") != std::string::npos);
  CHECK(all_are(ran.codes, 3));
}

TEST_CASE("a deadline ends a case that goes on computing elsewhere") {
  std::mutex mutex;
  const auto seams = [&](int rank) {
    SubjectSeams mine;
    if (rank == 0) {
      mine.kernel = [&](std::unique_ptr<kernel::Kernel> inner) {
        return std::make_unique<SpoilingKernel>(std::move(inner), [&](const auto*, const auto*) {
          // Blocked until the other rank's deadline has passed and it let go of the mutex.
          const std::lock_guard lock(mutex);
        });
      };
    } else {
      mine.transport = [&](comm::Transport& inner) {
        // A transport that blocks the other rank for as long as this rank takes part in the case.
        struct Holding final : comm::Transport {
          Holding(comm::Transport& t, std::mutex& m) : inner(t), lock(m) {}
          comm::Transport& inner;
          std::unique_lock<std::mutex> lock;
          [[nodiscard]] int rank() const override { return inner.rank(); }
          [[nodiscard]] int size() const override { return inner.size(); }
          void all_gather(std::string_view w, std::span<const std::byte> a, std::span<std::byte> b) override {
            inner.all_gather(w, a, b);
          }
          void all_to_all_v(std::string_view w, std::span<const std::byte> s,
                            std::span<const std::int64_t> sb, std::span<std::byte> r,
                            std::span<const std::int64_t> rb) override {
            inner.all_to_all_v(w, s, sb, r, rb);
          }
          void reduce_scatter_sum(std::string_view w, tensor::DType d, std::span<const std::byte> s,
                                  std::span<std::byte> r) override {
            inner.reduce_scatter_sum(w, d, s, r);
          }
          void send_receive(std::string_view w, std::optional<int> to, std::span<const std::byte> s,
                            std::optional<int> from, std::span<std::byte> r) override {
            inner.send_receive(w, to, s, from, r);
          }
          void all_reduce_max(std::string_view w, std::span<std::uint64_t> v) override {
            inner.all_reduce_max(w, v);
          }
          void barrier(std::string_view w) override { inner.barrier(w); }
        };
        return std::make_unique<Holding>(inner, mutex);
      };
    }
    return mine;
  };
  RunOptions hasty;
  hasty.timeout_s = 0.2;
  const Ran ran = run_over_threads(2, entries_of({"W2/5,3+0/H2:1/D8/fp32/a2a/cpu/s7"}), hasty, seams);
  CHECK(ran.told.verdicts == std::vector<Verdict>{Verdict::hang});
  CHECK(ran.told.where[0].size() == 2);
}

TEST_CASE("exit codes: the gravest verdict; cases that can't run count for nothing by themselves") {
  const std::string one = "W1/4+0/H2:1/D8/fp32/a2a/cpu/s7";
  const std::string eight = "W8/4+0/H2:1/D8/fp32/a2a/cpu/s7";
  CHECK(run_over_threads(2, entries_of({one, eight})).codes == std::vector<int>{0, 0});
  CHECK(run_over_threads(2, entries_of({eight})).codes == std::vector<int>{2, 2});
  CHECK(run_over_threads(1, {}).codes == std::vector<int>{5});

  auto odd = entries_of({one});
  odd[0].not_applicable = "dense needs all keys";
  CHECK(run_over_threads(1, odd).codes == std::vector<int>{77});
  RunOptions strict;
  strict.strict = true;
  CHECK(run_over_threads(1, odd, strict).codes == std::vector<int>{5});

  auto vacuous = entries_of({"W2/4,4+0/H2:1/D8/fp32/a2a/cpu/s7"});
  vacuous[0].expect.straddles = true;
  const Ran ran = run_over_threads(2, vacuous);
  CHECK(ran.told.verdicts == std::vector<Verdict>{Verdict::vacuous});
  CHECK(ran.told.reasons[0] == "expected a straddle, but b = 0 0");
  CHECK(ran.codes == std::vector<int>{5, 5});
}

TEST_CASE("repetitions with other bits are a mismatch, although each is within its bounds") {
  std::atomic<int> calls{0};
  const auto seams = [&](int) {
    SubjectSeams mine;
    mine.kernel = [&](std::unique_ptr<kernel::Kernel> inner) {
      return std::make_unique<SpoilingKernel>(std::move(inner), [&](const auto*, const auto* backward) {
        // One ulp in d_k, which no W = 1 rule sees: each call another element.
        if (backward == nullptr) return;
        float& x = backward->d_k.template as<float>()[calls++ % 8];
        x = std::nextafter(x, 1e30F);
      });
    };
    return mine;
  };
  RunOptions twice;
  twice.repeat = 3;
  const Ran ran = run_over_threads(2, entries_of({"W2/8+0/H2:1/D8/fp32/a2a/cpu/s7"}), twice, seams);
  REQUIRE(ran.told.verdicts.size() == 3);
  CHECK(ran.told.verdicts[0] == Verdict::pass);
  CHECK(ran.told.verdicts[1] == Verdict::mismatch);
  CHECK(ran.told.reasons[1].find("repetition 1 gave other bits in d_k") != std::string::npos);
}

TEST_CASE("a report that can't be written ends the run on all ranks") {
  CHECK_THROWS_WITH(
      run_over_threads(3, entries_of({"W3/5,4+0/H2:1/D8/fp32/a2a/cpu/s7", "W1/4+0/H2:1/D8/fp32/a2a/cpu/s7"}),
                       {}, {}, 1),
      "disk full");
}

}  // namespace
}  // namespace straddle::harness
