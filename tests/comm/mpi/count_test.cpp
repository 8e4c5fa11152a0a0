#include "comm/mpi/count.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "comm/errors.hpp"

namespace straddle::comm {
namespace {

TEST_CASE("message_parts: as few messages as the limit allows, and one for nothing") {
  CHECK(message_parts(0, 4) == 1);
  for (std::size_t bytes = 1; bytes <= 40; ++bytes) {
    for (std::size_t limit = 1; limit <= 41; ++limit) {
      const std::size_t parts = message_parts(bytes, limit);
      CAPTURE(bytes);
      CAPTURE(limit);
      CHECK(parts * limit >= bytes);
      CHECK((parts - 1) * limit < bytes);
    }
  }
  CHECK(message_parts(std::size_t{5} << 30, kMaxMessageBytes) == 5);
  CHECK(message_parts((std::size_t{5} << 30) + 1, kMaxMessageBytes) == 6);
  CHECK(kMaxMessageBytes <= static_cast<std::size_t>(std::numeric_limits<int>::max()));
}

TEST_CASE("reduction_count: what MPI counts in int passes, one more is refused") {
  CHECK(reduction_count("x", 0, 8) == 0);
  CHECK(reduction_count("x", 2147483647, 1) == 2147483647);
  CHECK(reduction_count("x", 268435455, 8) == 268435455);  // 2^31 - 8 in all
  CHECK_THROWS_WITH_AS(
      static_cast<void>(reduction_count("rank 0: reduce_scatter \"dK/dV\"", 268435456, 8)),
      "rank 0: reduce_scatter \"dK/dV\": 8 ranks x 268435456 elements are more than the 2147483647 "
      "that MPI can count; use the ordered reduction (all_to_all_v and a sum), or smaller parts",
      CommError);
  CHECK_THROWS_AS(static_cast<void>(reduction_count("x", std::int64_t{1} << 40, 1)), CommError);
}

}  // namespace
}  // namespace straddle::comm
