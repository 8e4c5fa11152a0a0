#include "harness/judge/tensor_verdict.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

TEST_CASE("a verdict: where only the document is over its bound, all rows are wrong and none is first") {
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    const Problem problem(make_case({200}, 0, 4, dtype, {.head_dim = 8, .v_head_dim = 8}));
    LayerResults results = right_results(problem.point, problem.oracle[0], DType::fp64);
    // A small part of every element's bound, all in one direction, breaks neither an element nor a row.
    const auto sigma = problem.oracle[0].sigma.at("out").view().span<double>();
    const double uf = 0x1p-24 * (1 + problem.oracle[0].largest_logit[0] / 8);
    const double error = dtype == DType::fp32 ? 12 * uf : 1.2 * 0x1p-8;
    for (std::size_t i = 0; i < sigma.size(); ++i) results.out.view().span<double>()[i] += error * sigma[i];
    const TensorVerdict verdict = verdict_of(problem.compare(results), "out", 0);
    CHECK(verdict.wrong());
    CHECK(verdict.criterion == Criterion::document);
    CHECK_FALSE(verdict.first.has_value());
    CHECK(verdict.worst.has_value());
    CHECK(verdict.wrong_rows == 200);
    CHECK(verdict.wrong_ranges == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 200}});
    CHECK(verdict.wrong_heads == std::vector<std::int64_t>{0, 1, 2, 3});
    CHECK(verdict.wrong_by_rank == std::vector<bool>{true, true, true, true});
  }
}

TEST_CASE("a verdict: a row whose elements are all within their bounds can be wrong as a row") {
  const Problem problem(make_case({200}, 0, 4, DType::fp32, {.head_dim = 8, .v_head_dim = 8}));
  LayerResults results = right_results(problem.point, problem.oracle[0], DType::fp64);
  const double uf = 0x1p-24 * (1 + problem.oracle[0].largest_logit[0] / 8);
  for (std::int64_t d = 0; d < 8; ++d) {
    const std::int64_t index = index_of(results.out, 150, 2, d);
    set(results.out, index,
        get(results.out, index) + 100 * uf * get(problem.oracle[0].sigma.at("out"), index));
  }
  const TensorVerdict verdict = verdict_of(problem.compare(results), "out", 0);
  CHECK(verdict.criterion == Criterion::row);
  CHECK(verdict.wrong_ranges == std::vector<std::pair<std::int64_t, std::int64_t>>{{150, 151}});
  CHECK(verdict.wrong_heads == std::vector<std::int64_t>{2});
  CHECK(verdict.wrong_by_rank == std::vector<bool>{false, false, false, true});
  REQUIRE(verdict.first.has_value());
  CHECK(verdict.first->token == 150);
  CHECK(verdict.worst->token == 150);
}

TEST_CASE("a verdict: swapped heads are located, and so are rows and ranks") {
  const Problem problem(make_case({2, 11, 3}, 0, 4));
  LayerResults results = copy(problem.right);
  // d_q of heads 1 and 2 swapped in rows 5, 6, 7 and 10: ranks 1 and 2, document 1.
  for (const std::int64_t token : {5, 6, 7, 10}) {
    for (std::int64_t d = 0; d < 4; ++d) {
      const auto a = index_of(results.d_q, token, 1, d), b = index_of(results.d_q, token, 2, d);
      const double value = get(results.d_q, a);
      set(results.d_q, a, get(results.d_q, b));
      set(results.d_q, b, value);
    }
  }
  const Judgement judgement = problem.compare(results);
  CHECK(wrong_tensors(judgement) == std::vector<std::string>{"d_q d1"});
  const TensorVerdict& verdict = verdict_of(judgement, "d_q", 1);
  CHECK(verdict.tokens == 11);
  CHECK(verdict.heads == 4);
  CHECK(verdict.wrong_heads == std::vector<std::int64_t>{1, 2});
  CHECK(verdict.wrong_rows == 4);
  CHECK(verdict.wrong_ranges == std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 8}, {10, 11}});
  CHECK(verdict.wrong_by_rank == std::vector<bool>{false, true, true, false});
  CHECK(verdict.relative_by_rank[0] < 1e-6);
  CHECK(verdict.relative_by_rank[1] > 0.1);
  CHECK(verdict.relative_by_rank[2] > 0.1);
  CHECK(verdict.relative_by_rank[3] < 1e-6);
  CHECK(verdict.first->token == 5);
  CHECK(verdict.first->rank == 1);
  CHECK(verdict.first->local_row == 1);
  CHECK(verdict.first->document_row == 3);
  CHECK(verdict.first->head == 1);
  const TensorVerdict& last = verdict_of(judgement, "d_q", 2);
  CHECK(std::isnan(last.relative_by_rank[0]));  // no rows there
  CHECK(last.relative_by_rank[3] < 1e-6);
}

TEST_CASE("a verdict: a lost half of a tensor is used as a share of its norm") {
  const Problem problem(make_case({40}, 0, 1, DType::fp32, {.head_dim = 16}));
  LayerResults results = copy(problem.right);
  for (std::int64_t i = 0; i < results.d_k.shape().numel(); ++i) {
    set(results.d_k, i, get(results.d_k, i) / 2);
  }
  const TensorVerdict verdict = verdict_of(problem.compare(results), "d_k", 0);
  CHECK(verdict.relative_by_rank[0] == doctest::Approx(0.5));
  CHECK(verdict.used > 0.1);
  CHECK(verdict.allowed < 1e-4);
  CHECK(verdict.ratio == doctest::Approx(verdict.used / verdict.allowed));
}

}  // namespace
}  // namespace straddle::harness
