#include "reference/validate.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "case.hpp"

namespace straddle::reference {
namespace {

const Shape kShape{
    .tokens = 4, .heads = 2, .kv_heads = 1, .head_dim = 3, .v_head_dim = 2, .softmax_scale = 1};

TEST_CASE("a tensor of the wrong size is named, with what was expected") {
  Case c = random_case(kShape, {{0, 4}}, 61);
  c.k.pop_back();
  CHECK_THROWS_WITH(attend_all<double>(c), "reference: k has 11 elements, expected 4 tokens x 1 heads x 3");
  c = random_case(kShape, {{0, 4}}, 61);
  c.d_lse.pop_back();
  CHECK_THROWS_WITH(attend_all<float>(c), "reference: d_lse has 7 elements, expected 4 tokens x 2 heads x 1");
}

TEST_CASE("every tensor is checked") {
  const Case c = random_case(kShape, {{0, 4}}, 61);
  Tensors t = tensors_of(kShape, 0);
  const Inputs<double> inputs{c.q, c.k, c.v, c.d_out, c.d_lse};
  const Results<double> results{t.out, t.lse, t.d_q, t.d_k, t.d_v};
  const Condition condition{t.out, t.d_q, t.d_k, t.d_v, t.out, t.d_q, t.d_k, t.d_v};
  CHECK_NOTHROW(validate(kShape, inputs, results));
  CHECK_NOTHROW(validate(kShape, condition));
  using In = Inputs<double>;
  for (std::span<const double> In::*tensor : {&In::q, &In::k, &In::v, &In::d_out, &In::d_lse}) {
    In wrong = inputs;
    wrong.*tensor = (wrong.*tensor).subspan(1);
    CHECK_THROWS_AS(validate(kShape, wrong, results), std::invalid_argument);
  }
  using Out = Results<double>;
  for (std::span<double> Out::*tensor : {&Out::out, &Out::lse, &Out::d_q, &Out::d_k, &Out::d_v}) {
    Out wrong = results;
    wrong.*tensor = (wrong.*tensor).subspan(1);
    CHECK_THROWS_AS(validate(kShape, inputs, wrong), std::invalid_argument);
  }
  for (std::span<double> Condition::*tensor :
       {&Condition::sigma_out, &Condition::sigma_d_q, &Condition::sigma_d_k, &Condition::sigma_d_v,
        &Condition::tau_out, &Condition::tau_d_q, &Condition::tau_d_k, &Condition::tau_d_v}) {
    Condition wrong = condition;
    wrong.*tensor = {};
    CHECK_THROWS_AS(validate(kShape, wrong), std::invalid_argument);
    CHECK_THROWS_AS(attend<double>(kShape, {0, 4}, 0, inputs, results, &wrong), std::invalid_argument);
  }
}

TEST_CASE(
    "heads that no kv head divides, documents outside the pack or on each other, kv heads that don't exist") {
  CHECK_THROWS_WITH(validate(Shape{.tokens = 1, .heads = 3, .kv_heads = 2}),
                    "reference: kv_heads 2 does not divide heads 3");
  CHECK_THROWS_WITH(validate(Shape{.tokens = 1, .head_dim = 0}),
                    "reference: head_dim is 0, expected at least 1");
  CHECK_THROWS_WITH(attend_all<double>(random_case(kShape, {{2, 3}}, 61)),
                    "reference: document of 3 rows from row 2 does not lie in 4 tokens");
  CHECK_THROWS_AS(attend_all<double>(random_case(kShape, {{-1, 2}}, 61)), std::invalid_argument);
  CHECK_THROWS_WITH(attend_all<double>(random_case(kShape, {{0, 3}, {2, 2}}, 61)),
                    "reference: row 2 lies in two documents, expected at most one");
  const Case c = random_case(kShape, {{0, 4}}, 61);
  Tensors t = tensors_of(kShape, 0);
  CHECK_THROWS_WITH(attend<double>(kShape, {0, 4}, 1, {c.q, c.k, c.v, c.d_out, c.d_lse},
                                   {t.out, t.lse, t.d_q, t.d_k, t.d_v}),
                    "reference: kv head 1 of 1 does not exist");
}

}  // namespace
}  // namespace straddle::reference
