#include "harness/judge/padding.hpp"

#include <doctest/doctest.h>

#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

TEST_CASE("padding rows must hold 0 and -inf, and each one is judged, gaps too") {
  Case point = make_case({3, 2}, 0, 2);
  point.pack.documents = {{1, 3}, {6, 2}};  // gaps: 0, 4, 5; tail 8, and 9 to fill two ranks
  point.pack.slots = 9;
  const Problem problem(point);
  const Judgement right = problem.compare(problem.right);
  CHECK_FALSE(right.wrong());
  for (const PaddingVerdict& verdict : right.padding) CHECK(verdict.rows == 5);

  for (std::size_t tensor = 0; tensor < kResultNames.size(); ++tensor) {
    const std::string_view name = kResultNames[tensor];
    for (const std::int64_t token : {0, 4, 5, 8, 9}) {
      for (const double value :
           {std::numeric_limits<double>::quiet_NaN(), 1e-38, std::numeric_limits<double>::infinity()}) {
        LayerResults results = copy(problem.right);
        const std::int64_t dim = name == "lse" ? 0 : 3;
        set(results.by_name(name), index_of(results.by_name(name), token, 1, dim), value);
        const Judgement judgement = problem.compare(results);
        CHECK(judgement.wrong());
        CHECK(wrong_tensors(judgement).empty());
        const PaddingVerdict& verdict = judgement.padding[tensor];
        REQUIRE(verdict.tensor == name);
        REQUIRE(verdict.wrong_rows == 1);
        REQUIRE(verdict.first.has_value());
        CHECK(verdict.first->token == token);
        CHECK(verdict.first->rank == token / 5);
        CHECK(verdict.first->local_row == token % 5);
        CHECK(verdict.first->head == 1);
        CHECK(verdict.first->dim == dim);
        CHECK(verdict.first->want == (name == "lse" ? -std::numeric_limits<double>::infinity() : 0));
        CHECK((verdict.first->got == doctest::Approx(value) || std::isnan(value) || std::isinf(value)));
      }
    }
  }
}

TEST_CASE("padding: 0 in lse is as wrong as any number") {
  const Problem problem(make_case({3}, 1, 1));
  LayerResults results = copy(problem.right);
  set(results.lse, index_of(results.lse, 3, 0, 0), 0);
  CHECK(problem.compare(results).padding[1].wrong_rows == 1);
  CHECK(problem.compare(results).padding[0].wrong_rows == 0);
}

}  // namespace
}  // namespace straddle::harness
