#include "tensor/shape.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

namespace straddle::tensor {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TEST_CASE("a shape knows its axes by name") {
  const Shape shape = token_major(8, 4, 64);
  CHECK(shape.axes() == 3);
  CHECK(shape.index_of(Axis::token) == 0);
  CHECK(shape.index_of(Axis::dim) == 2);
  CHECK(shape.size(Axis::token) == 8);
  CHECK(shape.size(Axis::head) == 4);
  CHECK(shape.size(Axis::dim) == 64);
  CHECK(shape.numel() == 2048);
  CHECK(shape.text() == "[token 8, head 4, dim 64]");
  CHECK(shape == Shape{{Axis::token, 8}, {Axis::head, 4}, {Axis::dim, 64}});
  CHECK(shape != Shape{{Axis::head, 4}, {Axis::token, 8}, {Axis::dim, 64}});
  CHECK(token_major(8, 4) == Shape{{Axis::token, 8}, {Axis::head, 4}});
  CHECK_FALSE(token_major(8, 4).has(Axis::dim));
}

TEST_CASE("no axes, no elements; an axis of size 0 neither") {
  CHECK(Shape().numel() == 0);
  CHECK(Shape().text() == "[]");
  CHECK(Shape() == Shape{});
  CHECK(token_major(0, 4, 64).numel() == 0);
  CHECK(Shape{{Axis::token, 1}}.numel() == 1);
}

TEST_CASE("with replaces one extent and leaves the others") {
  CHECK(token_major(8, 4, 64).with(Axis::head, 2) == token_major(8, 2, 64));
  CHECK_THROWS_WITH((void)token_major(8, 4).with(Axis::dim, 2), "there is no axis dim in [token 8, head 4]");
  CHECK_THROWS_WITH((void)token_major(8, 4).with(Axis::head, -2),
                    "axis head must have a size of 0 or more, got -2");
  CHECK_THROWS_AS((void)token_major(8, 4).with(Axis::head, kHuge), std::invalid_argument);
}

TEST_CASE("a shape that means nothing is refused") {
  CHECK_THROWS_WITH((Shape{{Axis::token, 1}, {Axis::head, 1}, {Axis::token, 2}}),
                    "axis token comes twice in a shape");
  CHECK_THROWS_WITH((void)token_major(3, -1), "axis head must have a size of 0 or more, got -1");
  CHECK_THROWS_WITH(
      (Shape{{Axis::token, 1}, {Axis::head, 1}, {Axis::dim, 2}, {Axis::dim, 2}, {Axis::dim, 2}}),
      "a shape has at most 4 axes, 5 were given");
  CHECK_THROWS_WITH((void)token_major(3, 2).size(Axis::dim), "there is no axis dim in [token 3, head 2]");
  CHECK_THROWS_WITH((void)token_major(kHuge, 2),
                    "[token 9223372036854775807, head 2] has more elements than an int64 counts");
  CHECK_THROWS_AS((void)token_major(0, kHuge, 2), std::invalid_argument);  // its strides could not be counted
  CHECK(token_major(kHuge, 1).numel() == kHuge);
}

}  // namespace
}  // namespace straddle::tensor
