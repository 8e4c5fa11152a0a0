#include "comm/mpi/wait.hpp"

#include <doctest/doctest.h>

namespace straddle::comm {
namespace {

using namespace std::chrono_literals;

TEST_CASE("next_pause: yields at first, then an eighth of the wait between 20 us and 1 ms") {
  CHECK(next_pause(0ns, 40us) == 0ns);
  CHECK(next_pause(39us, 40us) == 0ns);
  CHECK(next_pause(40us, 40us) == 20us);
  CHECK(next_pause(160us, 40us) == 20us);
  CHECK(next_pause(800us, 40us) == 100us);
  CHECK(next_pause(8ms, 40us) == 1ms);
  CHECK(next_pause(1h, 40us) == 1ms);
}

TEST_CASE("yielding_time grows with the bytes under way") {
  CHECK(yielding_time(0) == 40us);
  CHECK(yielding_time(1'000'000) == 1040us);
}

TEST_CASE("wait_until looks before it heeds a deadline, and stops looking at the deadline") {
  const Deadline passed{std::chrono::steady_clock::now()};
  CHECK(wait_until([] { return true; }, 0, &passed));
  int looks = 0;
  const auto never = [&] { return ++looks < 0; };
  CHECK_FALSE(wait_until(never, 0, &passed));
  CHECK(looks == 1);
  const auto on_the_fifth_look = [&] { return ++looks == 6; };
  CHECK(wait_until(on_the_fifth_look, 0, nullptr));
  const Deadline none;
  CHECK(wait_until([&] { return ++looks == 9; }, 0, &none));
}

}  // namespace
}  // namespace straddle::comm
