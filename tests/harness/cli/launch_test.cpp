#include "harness/cli/launch.hpp"

#include <doctest/doctest.h>

#include <atomic>

namespace straddle::harness {
namespace {

TEST_CASE("launch as threads: as many ranks as asked for, rank 0's code") {
  std::atomic<int> seen{0};
  const int code = launch({TransportChoice::threads, 5}, [&](comm::World& world) {
    CHECK(world.size() == 5);
    ++seen;
    return world.rank() == 0 ? 7 : 9;
  });
  CHECK(seen == 5);
  CHECK(code == 7);
}

TEST_CASE("launch: too many threads are refused, and no launcher means threads") {
  CHECK_THROWS_AS(launch({TransportChoice::threads, 257}, [](comm::World&) { return 0; }), UsageError);
  CHECK_THROWS_AS(launch({TransportChoice::threads, -1}, [](comm::World&) { return 0; }), UsageError);
  CHECK_FALSE(uses_mpi({TransportChoice::threads, 2}));
  CHECK(uses_mpi({TransportChoice::mpi, 0}));
}

}  // namespace
}  // namespace straddle::harness
