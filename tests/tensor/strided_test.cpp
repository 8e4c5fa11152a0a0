#include "tensor/strided.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace straddle::tensor {
namespace {

using Pair = std::array<std::int64_t, 2>;
using Strides = std::array<std::int64_t, Shape::kMaxAxes>;

struct Walk {
  std::vector<Pair> visited;
  int rows = 0;
};

Walk walk(const Shape& shape, const Strides& first, const Strides& second) {
  Walk result;
  StridedLoops<2>(shape, {first, second})
      .for_each_row([&](const Pair& at, std::int64_t size, const Pair& step) {
        ++result.rows;
        for (std::int64_t i = 0; i < size; ++i)
          result.visited.push_back({at[0] + i * step[0], at[1] + i * step[1]});
      });
  return result;
}

std::vector<Pair> by_definition(std::int64_t tokens, std::int64_t heads, std::int64_t dim,
                                const Strides& first, const Strides& second) {
  std::vector<Pair> visited;
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t d = 0; d < dim; ++d) {
        visited.push_back(
            {t * first[0] + h * first[1] + d * first[2], t * second[0] + h * second[1] + d * second[2]});
      }
    }
  }
  return visited;
}

TEST_CASE("every element is visited once and in order, for all sizes up to 3 and many strides") {
  const std::vector<std::int64_t> steps = {0, 1, 2, 3, 4, 6, 9};
  for (int sizes = 0; sizes < 4 * 4 * 4; ++sizes) {
    const std::int64_t tokens = sizes % 4;
    const std::int64_t heads = sizes / 4 % 4;
    const std::int64_t dim = sizes / 16;
    for (const std::int64_t token_step : steps) {
      for (const std::int64_t head_step : steps) {
        for (const std::int64_t dim_step : steps) {
          const Strides first = {token_step, head_step, dim_step};
          const Strides second = {heads * dim, dim, 1};
          const auto got = walk(token_major(tokens, heads, dim), first, second).visited;
          if (got == by_definition(tokens, heads, dim, first, second)) continue;
          FAIL_CHECK(tokens << " x " << heads << " x " << dim << " at strides " << token_step << " "
                            << head_step << " " << dim_step);
        }
      }
    }
  }
}

TEST_CASE("rows are as long as the strides allow") {
  const Strides whole = {8, 4, 1};
  const Strides every_second_token = {16, 4, 1};
  const Strides head_major = {4, 20, 1};
  CHECK(walk(token_major(5, 2, 4), whole, whole).rows == 1);
  CHECK(walk(token_major(5, 2, 4), every_second_token, whole).rows == 5);
  CHECK(walk(token_major(5, 2, 4), whole, head_major).rows == 10);
  CHECK(walk(token_major(5, 1, 4), {4, 99, 1}, {4, 4, 1}).rows == 1);
  CHECK(walk(token_major(0, 2, 4), whole, whole).rows == 0);
}

}  // namespace
}  // namespace straddle::tensor
