#include <doctest/doctest.h>

#include "families.hpp"
#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

// Documents of 2, 5 and 3 rows; token 4 is row 2 of document 1.
Case probe_case(Probe probe) {
  Case point = make_case({2, 5, 3}, 2, 2);
  point.probe = probe;
  return point;
}

InvariantVerdict compare(const Case& point, std::int64_t what, const LayerResults& first,
                         const LayerResults& second) {
  Judgement judgement;
  compare_probe(point, 3, what, first, second, judgement);
  REQUIRE(judgement.invariants.size() == 1);
  CHECK(judgement.invariants[0].layer == 3);
  return judgement.invariants[0];
}

Change at_token(std::int64_t token, double factor) {
  return [=](double value, std::int64_t t, auto, auto) { return t == token ? factor * value : value; };
}

TEST_CASE("I8: a changed token changes its own row and nothing that can't see it") {
  const Case point = probe_case(Probe::change_token);
  const Problem first(point, normal_but({}));
  const auto change = at_token(4, -1.5);
  const Problem second(point, normal_but({{"q", change}, {"k", change}, {"v", change}, {"d_out", change}}));
  const InvariantVerdict verdict = compare(point, 4, first.right, second.right);
  CHECK_FALSE(verdict.broken());
  CHECK(verdict.id == "I8");
  CHECK(verdict.document == 1);
  CHECK(verdict.sentence ==
        "changing token 4 leaves earlier rows and other documents alone and changes its row");
}

TEST_CASE("I8: every bit of earlier rows and of other documents counts, and no other") {
  const Case point = probe_case(Probe::change_token);
  const Problem first(point, normal_but({}));
  LayerResults changed = copy(first.right);
  set(changed.out, index_of(changed.out, 4, 0, 0), 9);  // its own row did change
  for (const std::string_view name : kResultNames) {
    const Tensor& tensor = first.right.by_name(name);
    const std::int64_t row = tensor.shape().numel() / tensor.shape().size(tensor::Axis::token);
    for (std::int64_t index = 0; index < tensor.shape().numel(); ++index) {
      LayerResults second = copy(changed);
      set(second.by_name(name), index, 0.123);
      const std::int64_t token = index / row;
      const bool other_document = token < 2 || (token >= 7 && token < 10);
      const bool query_side = name == "out" || name == "lse" || name == "d_q";
      const bool earlier = token >= 2 && token < 4 && query_side;
      CAPTURE(name);
      CAPTURE(index);
      REQUIRE(compare(point, 4, first.right, second).broken() == (other_document || earlier));
    }
  }
}

TEST_CASE("I8: a dead input is seen, and a leak is told") {
  const Case point = probe_case(Probe::change_token);
  const Problem first(point, normal_but({}));
  const InvariantVerdict dead = compare(point, 4, first.right, first.right);
  CHECK(dead.broken());
  CHECK(dead.sentence.find("; seen no change of out in token 4 itself") != std::string::npos);
  LayerResults second = copy(first.right);
  set(second.lse, index_of(second.lse, 3, 1, 0), 2);
  set(second.d_k, index_of(second.d_k, 0, 1, 2), 2);
  const InvariantVerdict leak = compare(point, 4, first.right, second);
  CHECK(leak.used == 2);
  CHECK(leak.allowed == 0);
  CHECK(leak.sentence.find("; seen lse token 3 head 1: ") != std::string::npos);
}

TEST_CASE("I9: NaN in one document reaches no other") {
  const Case point = probe_case(Probe::nan_document);
  const Problem first(point, normal_but({}));
  LayerResults second = copy(first.right);
  const auto poison_rows = [&](std::int64_t begin, std::int64_t end) {
    for (const std::string_view name : kResultNames) {
      Tensor& tensor = second.by_name(name);
      const std::int64_t row = tensor.shape().numel() / tensor.shape().size(tensor::Axis::token);
      for (std::int64_t i = begin * row; i < end * row; ++i) {
        set(tensor, i, std::numeric_limits<double>::quiet_NaN());
      }
    }
  };
  poison_rows(2, 7);
  const InvariantVerdict fine = compare(point, 1, first.right, second);
  CHECK_FALSE(fine.broken());
  CHECK(fine.id == "I9");
  CHECK(fine.sentence == "NaN in document 1 reaches no other document");
  set(second.d_v, index_of(second.d_v, 7, 0, 1), std::numeric_limits<double>::quiet_NaN());
  const InvariantVerdict leak = compare(point, 1, first.right, second);
  CHECK(leak.broken());
  CHECK(leak.used == 1);
  CHECK(leak.sentence.find("; seen d_v token 7 head 0 dim 1: ") != std::string::npos);
}

TEST_CASE("compare_probe: a token or document that is not there is refused") {
  const Case point = probe_case(Probe::change_token);
  const Problem problem(point, normal_but({}));
  Judgement judgement;
  CHECK_THROWS_WITH(compare_probe(point, 0, 11, problem.right, problem.right, judgement),
                    doctest::Contains("a changed token must be a real one, but token 11"));
  const Case poison = probe_case(Probe::nan_document);
  CHECK_THROWS_WITH(compare_probe(poison, 0, 3, problem.right, problem.right, judgement),
                    doctest::Contains("has documents [0, 3), but document 3 was made NaN"));
  CHECK_THROWS_WITH(compare_probe(probe_case(Probe::none), 0, 0, problem.right, problem.right, judgement),
                    doctest::Contains("has no probe"));
}

}  // namespace
}  // namespace straddle::harness
