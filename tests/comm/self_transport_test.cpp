#include <doctest/doctest.h>

#include "comm/errors.hpp"
#include "comm/world.hpp"
#include "transport_checks.hpp"

namespace straddle::comm {
namespace {

TEST_CASE("self_transport: every operation of a group of one is its definition") {
  const auto transport = self_transport();
  CHECK(transport->rank() == 0);
  CHECK(transport->size() == 1);
  CHECK_NOTHROW(check_transport(*transport));
}

TEST_CASE("self_transport: a message to oneself must be received") {
  const auto transport = self_transport();
  const std::vector<std::byte> bytes(4);
  CHECK_THROWS_WITH_AS(transport->send_receive("x", 0, bytes, std::nullopt, {}),
                       "rank 0: send_receive \"x\": the message to oneself is never received", CommError);
}

}  // namespace
}  // namespace straddle::comm
