#include "harness/cli/agree.hpp"

#include <doctest/doctest.h>

#include "comm/world.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("first_failure: all prepared, one failed, several failed, ranks that read other things") {
  comm::run_threads(4, [](comm::World& world) {
    auto& control = world.control();
    const int rank = world.rank();
    CHECK_FALSE(first_failure({0, "", 5}, control));

    const auto one = first_failure({rank == 2 ? 2 : 0, rank == 2 ? "no such file" : "", 5}, control);
    REQUIRE(one);
    CHECK(one->exit_code == 2);
    CHECK(one->message == "rank 2: no such file");

    const auto several =
        first_failure({rank == 0 ? 0 : 5, std::string(static_cast<std::size_t>(rank), 'x'), 5}, control);
    REQUIRE(several);
    CHECK(several->message == "rank 1: x");
    CHECK(several->exit_code == 5);

    const auto other = first_failure({0, "", static_cast<std::uint64_t>(rank == 3)}, control);
    REQUIRE(other);
    CHECK(other->exit_code == 2);
    CHECK(other->message == "ranks 0 and 3 read different scenarios: are the files the same on every host?");
  });
}

}  // namespace
}  // namespace straddle::harness
