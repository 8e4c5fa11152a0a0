#include <doctest/doctest.h>

#include <atomic>
#include <random>
#include <thread>

#include "comm/errors.hpp"
#include "comm/world.hpp"
#include "expect.hpp"
#include "tagged.hpp"
#include "transport_checks.hpp"

namespace straddle::comm {
namespace {

using Bytes = std::vector<std::byte>;

TEST_CASE("threads: every operation is its definition, in every group") {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    CAPTURE(ranks);
    CHECK_NOTHROW(run_threads(ranks, check_world));
  }
}

TEST_CASE("threads: the name, and one body for each rank") {
  std::vector<int> seen(5, 0);
  run_threads(5, [&](World& world) {
    expect(world.name() == "threads" && world.size() == 5, "5 threads");
    ++seen[world.rank()];
  });
  CHECK(seen == std::vector(5, 1));
  CHECK_THROWS_WITH_AS(run_threads(0, [](World&) {}), "run_threads: 0 ranks, expected at least 1", CommError);
}

TEST_CASE("threads: nobody leaves a barrier before all have come") {
  std::atomic<int> came = 0;
  run_threads(4, [&](World& world) {
    for (int round = 1; round <= 200; ++round) {
      ++came;
      world.group(4)->barrier("all");
      expect(came >= 4 * round, "all 4 ranks in round {}", round);
      world.control().barrier("next");
    }
  });
}

TEST_CASE("threads: sums are made in rank order") {
  // With these neighbours an fp32 sum depends on its order: 2^25 swallows a 1 beside it.
  const std::vector<float> parts{33554432.0f, 1.0f, -33554432.0f, 1.0f, 1.0f};
  run_threads(5, [&](World& world) {
    const std::vector<float> send(5, parts[world.rank()]);
    float sum = 0;
    world.group(5)->reduce_scatter_sum("order", tensor::DType::fp32, std::as_bytes(std::span(send)),
                                       std::as_writable_bytes(std::span(&sum, 1)));
    expect(sum == 2.0f, "((((2^25 + 1) - 2^25) + 1) + 1) = 2, got {}", sum);
  });
}

TEST_CASE("threads: another size is an error that names both") {
  run_threads(3, [](World& world) {
    Transport& group = *world.group(3);
    const std::size_t size = world.rank() == 2 ? 24 : 16;
    Bytes mine(size), all(3 * size);
    const std::string text = message_of<CommError>(
        "other size", [&] { group.all_gather(world.rank() == 2 ? "dK/dV" : "K/V forward", mine, all); });
    const std::string advice =
        "the ranks disagree about a size, or are in different calls: compare their plans and operation logs";
    if (world.rank() == 2) {
      expect(text == "rank 2: all_gather \"dK/dV\": rank 0 sent 16 bytes, 24 were expected; " + advice +
                         "; it was sent for \"K/V forward\"",
             "another text than: {}", text);
    } else {
      expect(text == fmt::format(
                         "rank {}: all_gather \"K/V forward\": rank 2 sent 24 bytes, 16 were expected; {}; "
                         "it was sent for \"dK/dV\"",
                         world.rank(), advice),
             "another text than: {}", text);
    }
    expect(world.recover(), "recovery");
    check_transport(group);
  });
}

TEST_CASE("threads: a rank that skips a collective is seen at once, and says where all stand") {
  run_threads(3, [](World& world) {
    Bytes mine(4), all(12);
    if (world.rank() == 2) {
      world.control().barrier("verdict");  // goes on when the others have given up
    } else {
      const std::string text = message_of<HangError>(
          "skipped all_gather", [&] { world.group(3)->all_gather("K/V forward", mine, all); });
      expect(text == fmt::format("rank {}: all_gather \"K/V forward\": can never end: "
                                 "rank 0: all_gather \"K/V forward\" in the group of 3 waits for rank 2; "
                                 "rank 1: all_gather \"K/V forward\" in the group of 3 waits for rank 2; "
                                 "rank 2: barrier \"verdict\" in control waits for rank 0",
                                 world.rank()),
             "another text than: {}", text);
      world.control().barrier("verdict");
    }
    expect(world.recover(), "recovery");
    check_transport(*world.group(3));
  });
}

TEST_CASE("threads: different kinds never meet, though their sizes are equal") {
  run_threads(4, [](World& world) {
    Transport& group = *world.group(4);
    std::vector<std::uint64_t> values{1};
    Bytes mine(8), all(32);
    const std::string text = message_of<HangError>("kinds", [&] {
      world.rank() == 1 ? group.all_reduce_max("consensus", values) : group.all_gather("K/V", mine, all);
    });
    expect_contains(text, "rank 1: all_reduce \"consensus\" in the group of 4 waits for rank 0");
    expect_contains(text, "rank 3: all_gather \"K/V\" in the group of 4 waits for rank 1");
    expect(world.recover(), "recovery");
    check_transport(group);
  });
}

TEST_CASE("threads: a small group hangs while the others wait outside in control") {
  run_threads(4, [](World& world) {
    if (world.rank() == 0) {
      message_of<HangError>("group of 2", [&] { world.group(2)->barrier("alone"); });
    }
    world.control().barrier("verdict");
    expect(world.recover(), "recovery");
    world.rank() < 2 ? check_transport(*world.group(2)) : void();
  });
}

TEST_CASE("threads: waiting for a rank that left is a hang, in a group and in control") {
  const auto gone = [](World& world) {
    if (world.rank() == 1) throw std::runtime_error("kernel failed");
    Transport& transport = world.rank() == 0 ? *world.group(3) : world.control();
    transport.send_receive("halo", std::nullopt, {}, 1, {});
  };
  const std::string text = message_of<HangError>("gone", [&] { run_threads(3, gone); });
  expect_contains(text, "rank 0: send_receive \"halo\": can never end: ");
  expect_contains(text, "rank 1 has left (kernel failed)");

  run_threads(2, [](World& world) {
    if (world.rank() == 1) return;
    const std::string by_return = message_of<HangError>("gone", [&] { world.control().barrier("end"); });
    expect_contains(by_return, "rank 1 has left (its body returned)");
  });
}

TEST_CASE("threads: who waits for a rank that left is told, though another rank still runs") {
  std::atomic<bool> told = false;
  run_threads(3, [&](World& world) {
    if (world.rank() == 1) return;
    if (world.rank() == 2) {
      while (!told) std::this_thread::yield();
      return;
    }
    message_of<HangError>("gone", [&] { world.group(3)->send_receive("halo", std::nullopt, {}, 1, {}); });
    told = true;
  });
}

TEST_CASE("threads: a message sent before leaving still arrives") {
  run_threads(2, [](World& world) {
    Bytes recv(9);
    if (world.rank() == 1) {
      world.control().send_receive("last", 0, tagged_bytes(1, 0, 0, 9), std::nullopt, {});
    } else {
      world.control().send_receive("last", std::nullopt, {}, 1, recv);
      expect(recv == tagged_bytes(1, 0, 0, 9), "the last message");
    }
  });
}

TEST_CASE("threads: where all wait in control for each other, all are told") {
  run_threads(3, [](World& world) {
    const std::string text = message_of<HangError>("mixed-up control", [&] {
      std::vector<std::uint64_t> values{1};
      world.rank() == 0 ? world.control().barrier("end") : world.control().all_reduce_max("end", values);
    });
    expect_contains(text, "rank 2: all_reduce \"end\" in control waits for rank 0");
  });
}

TEST_CASE("threads: a deadline ends a wait in the group though another rank still runs") {
  std::atomic<bool> given_up = false;
  run_threads(2, [&](World& world) {
    if (world.rank() == 1) {
      while (!given_up) std::this_thread::yield();
    } else {
      world.set_deadline({std::chrono::steady_clock::now()});
      const std::string text = message_of<HangError>("deadline", [&] { world.group(2)->barrier("late"); });
      given_up = true;
      expect(text ==
                 "rank 0: barrier \"late\": the deadline passed: "
                 "rank 0: barrier \"late\" in the group of 2 waits for rank 1; rank 1 is running",
             "another text than: {}", text);
    }
    world.control().barrier("verdict");  // has no deadline
    world.set_deadline({});
    expect(world.recover(), "recovery");
    check_transport(*world.group(2));
  });
}

TEST_CASE("threads: the first exception by rank order leaves run_threads, after all have ended") {
  std::atomic<int> ended = 0;
  const auto body = [&](World& world) {
    try {
      if (world.rank() == 3) world.control().send_receive("wait", std::nullopt, {}, 1, {});
    } catch (const HangError&) {
      ++ended;
    }
    if (world.rank() == 1) throw std::runtime_error("of rank 1");
    if (world.rank() == 2) throw 2;  // no std::exception
    ++ended;
  };
  CHECK_THROWS_WITH_AS(run_threads(4, body), "of rank 1", std::runtime_error);
  CHECK(ended == 3);
  CHECK_THROWS_AS(run_threads(3, [](World& world) { world.rank() == 2 ? throw 2 : void(); }), int);
}

TEST_CASE("threads: abort is a HangError that names rank and code") {
  const auto body = [](World& world) {
    if (world.rank() == 0) world.abort(3);
    world.control().barrier("end");
  };
  CHECK_THROWS_WITH_AS(run_threads(2, body), "rank 0 aborted the world with exit code 3", HangError);
}

// One operation drawn from `draw`, its size too.
void some_operation(Transport& transport, unsigned draw) {
  const std::size_t size = draw / 4 % 3 * 8;
  Bytes mine(size), all(size * transport.size());
  std::vector<std::uint64_t> values(size / 8);
  switch (draw % 4) {
    case 0:
      return transport.all_gather("a", mine, all);
    case 1:
      return transport.all_reduce_max("b", values);
    case 2:
      return transport.barrier("c");
    default:
      return transport.send_receive("d", (transport.rank() + 1) % transport.size(), mine,
                                    (transport.rank() + transport.size() - 1) % transport.size(), mine);
  }
}

TEST_CASE("threads: no mix-up of operations blocks for ever, and the next case runs cleanly") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const int ranks = 2 + static_cast<int>(seed % 4);
    std::atomic<int> failures = 0;
    const auto body = [&](World& world) {
      std::mt19937 random(seed);
      std::vector<unsigned> draws(8);
      for (unsigned& draw : draws) draw = random();
      const auto at = draws.begin() + random() % 8;
      if (world.rank() == ranks - 1) draws.erase(at);  // this rank skips one
      try {
        for (const unsigned draw : draws) some_operation(*world.group(ranks), draw);
      } catch (const CommError&) {
        ++failures;
      }
      std::vector<std::uint64_t> none;
      world.control().all_reduce_max("verdict", none);
      expect(world.recover(), "recovery");
      std::mt19937 again(seed);
      for (int i = 0; i < 8; ++i) some_operation(*world.group(ranks), again());
    };
    CHECK_NOTHROW(run_threads(ranks, body));
    CHECK(failures > 0);
  }
}

}  // namespace
}  // namespace straddle::comm
