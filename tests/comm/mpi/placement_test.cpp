#include "comm/mpi/placement.hpp"

#include <doctest/doctest.h>

namespace straddle::comm {
namespace {

TEST_CASE("number_nodes: counted from 0 by lowest rank") {
  using Ints = std::vector<int>;
  CHECK(number_nodes(Ints{}) == Ints{});
  CHECK(number_nodes(Ints{0, 0, 0}) == Ints{0, 0, 0});
  CHECK(number_nodes(Ints{0, 0, 2, 2}) == Ints{0, 0, 1, 1});
  CHECK(number_nodes(Ints{0, 1, 0, 3, 1}) == Ints{0, 1, 0, 2, 1});
}

}  // namespace
}  // namespace straddle::comm
