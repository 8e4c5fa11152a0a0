#include <doctest/doctest.h>

#include "families.hpp"
#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

BitsVerdict compare(const Problem& problem, const LayerResults& results) {
  Judgement judgement;
  compare_bits(problem.point, 0, results, problem.right, judgement);
  CHECK(judgement.wrong() ==
        (!judgement.bits.equal || judgement.bits.changed_share_d_kv > judgement.bits.allowed_share));
  return judgement.bits;
}

// Turns the lowest bit of one element.
void turn_bit(Tensor& tensor, std::int64_t index) {
  tensor.view().data()[static_cast<std::size_t>(index) * tensor::size_bytes(tensor.dtype())] ^= std::byte{1};
}

bool any_change_is_seen(const Problem& problem, std::string_view name, std::int64_t index) {
  LayerResults results = copy(problem.right);
  turn_bit(results.by_name(name), index);
  return !compare(problem, results).equal;
}

TEST_CASE("compare_bits: every bit of out, lse and d_q counts; d_k and d_v where a document is on one rank") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16}) {
    // W = 2, L = 6: document 0 straddles no cut, document 1 does.
    const Problem problem(make_case({2, 6, 2}, 2, 2, dtype, {.heads = 2, .kv_heads = 1, .head_dim = 2}));
    CHECK(compare(problem, problem.right).equal);
    for (const std::string_view name : kResultNames) {
      const Tensor& tensor = problem.right.by_name(name);
      const std::int64_t row = tensor.shape().numel() / tensor.shape().size(tensor::Axis::token);
      for (std::int64_t index = 0; index < 12 * row; ++index) {
        const std::int64_t token = index / row;
        const bool straddling = token >= 2 && token < 8;
        const bool padding = token >= 10;
        const bool summed = name == "d_k" || name == "d_v";
        CAPTURE(name);
        CAPTURE(index);
        REQUIRE(any_change_is_seen(problem, name, index) == (!padding && !(summed && straddling)));
      }
    }
  }
}

TEST_CASE("compare_bits: the difference names tensor, token, head, dim and both values, the first one only") {
  const Problem problem(make_case({3, 2}, 0, 1));
  LayerResults results = copy(problem.right);
  set(results.d_q, index_of(results.d_q, 1, 2, 3), 1.0);
  set(results.d_q, index_of(results.d_q, 2, 0, 0), 1.0);
  set(results.lse, index_of(results.lse, 4, 1, 0), 2.0);
  LayerResults control = copy(problem.right);
  set(control.d_q, index_of(control.d_q, 1, 2, 3), -2.0);
  set(control.lse, index_of(control.lse, 4, 1, 0), 0.5);
  Judgement judgement;
  compare_bits(problem.point, 0, results, control, judgement);
  CHECK(judgement.bits.difference == "d_q token 1 head 2 dim 3: 3f800000 != c0000000");
  set(results.d_q, index_of(results.d_q, 1, 2, 3), -2.0);
  set(control.d_q, index_of(control.d_q, 2, 0, 0), 1.0);
  Judgement lse;
  compare_bits(problem.point, 0, results, control, lse);
  CHECK(lse.bits.difference == "lse token 4 head 1: 40000000 != 3f000000");
}

TEST_CASE("compare_bits: -0 and +0 differ in d_q, not in d_k, where a sum over ranks starts from +0") {
  const Problem problem(make_case({3}, 0, 1, DType::bf16));
  for (const std::string name : {"d_q", "out", "d_k", "d_v"}) {
    LayerResults plus = copy(problem.right), minus = copy(problem.right);
    set(plus.by_name(name), 5, 0.0);
    set(minus.by_name(name), 5, -0.0);
    Judgement judgement;
    compare_bits(problem.point, 0, plus, minus, judgement);
    CHECK(judgement.bits.equal == (name[2] == 'k' || name[2] == 'v'));
  }
}

TEST_CASE("compare_bits: 16-bit d_k, d_v of a document on several ranks may change in 1 % of the elements") {
  // 40 rows x 1 kv head x (8 + 8) = 640 elements: 6 are 0.94 %, 7 are 1.09 %.
  const Size size{.heads = 2, .kv_heads = 1, .head_dim = 8, .v_head_dim = 8};
  const Problem problem(make_case({40}, 0, 4, DType::bf16, size));
  for (const int changed : {0, 6, 7, 640}) {
    LayerResults results = copy(problem.right);
    for (int i = 0; i < changed; ++i) turn_bit(i % 2 == 0 ? results.d_k : results.d_v, i / 2);
    const BitsVerdict bits = compare(problem, results);
    CHECK(bits.equal);
    CHECK(bits.allowed_share == 0.01);
    CHECK(bits.changed_share_d_kv == changed / 640.0);
    CHECK((bits.changed_share_d_kv <= bits.allowed_share) == (changed <= 6));
  }
}

TEST_CASE("compare_bits: in a short document two elements may change") {
  // The document of 3 rows lies on two ranks: 3 x (2 + 2) = 12 elements.
  const Size size{.heads = 2, .kv_heads = 1, .head_dim = 2, .v_head_dim = 2};
  Case point = make_case({21, 3, 20}, 0, 2, DType::fp16, size);
  REQUIRE(point.rows_per_rank() == 22);
  const Problem problem(point);
  for (const int changed : {1, 2, 3}) {
    LayerResults results = copy(problem.right);
    for (int i = 0; i < changed; ++i) turn_bit(results.d_k, 21 * 2 + i);
    const BitsVerdict bits = compare(problem, results);
    CHECK(bits.changed_share_d_kv == changed / 12.0);
    CHECK(bits.allowed_share == doctest::Approx(2 / 12.0));
    CHECK((bits.changed_share_d_kv <= bits.allowed_share) == (changed <= 2));
  }
}

TEST_CASE("compare_bits: the document that uses most of its share stands for all") {
  // L = 10: documents of 12, 10 and 8 rows, the first two on two ranks with 48 and 40 elements.
  const Size size{.heads = 2, .kv_heads = 1, .head_dim = 2, .v_head_dim = 2};
  const Problem problem(make_case({12, 10, 8}, 0, 3, DType::fp16, size));
  for (const bool swap : {false, true}) {
    LayerResults results = copy(problem.right);
    for (int i = 0; i < (swap ? 4 : 1); ++i) turn_bit(results.d_k, i);
    for (int i = 0; i < (swap ? 1 : 3); ++i) turn_bit(results.d_k, 12 * 2 + i);
    CHECK(compare(problem, results).changed_share_d_kv == (swap ? 4 / 48.0 : 3 / 40.0));
  }
}

TEST_CASE("compare_bits: a document that ends at a cut is on one rank") {
  const Problem problem(make_case({2, 4, 6}, 0, 2, DType::bf16));
  LayerResults results = copy(problem.right);
  turn_bit(results.d_v, index_of(results.d_v, 5, 0, 0));
  CHECK_FALSE(compare(problem, results).equal);
}

TEST_CASE("compare_bits: there is no bit rule for fp32 sums over ranks") {
  const Problem problem(make_case({8}, 0, 2));
  LayerResults results = copy(problem.right);
  for (std::int64_t i = 0; i < results.d_k.shape().numel(); ++i) turn_bit(results.d_k, i);
  const BitsVerdict bits = compare(problem, results);
  CHECK(bits.compared);
  CHECK(bits.equal);
  CHECK(bits.changed_share_d_kv == 0);
  CHECK(bits.allowed_share == 0);
}

TEST_CASE("compare_bits: partials kept in bf16 are seen at W = 2") {
  const Case point = make_case({64}, 0, 2, DType::bf16, {.head_dim = 16, .v_head_dim = 16});
  const Problem problem(point, normal_but({}));
  LayerResults results = copy(problem.right);
  for (const std::int64_t source : {0, 1}) {
    const TableInputs part(point, normal_but({{"d_out", [&](double g, std::int64_t token, auto, auto) {
                                                 return token / 32 == source ? g : 0.0;
                                               }}}));
    const auto partial = right_results(point, oracle_of(point, part)[0], DType::bf16);
    for (const std::string name : {"d_k", "d_v"}) {
      Tensor& to = results.by_name(name);
      for (std::int64_t i = 0; i < to.shape().numel(); ++i) {
        set(to, i, (source == 0 ? 0 : get(to, i)) + get(partial.by_name(name), i));
      }
    }
  }
  const BitsVerdict bits = compare(problem, results);
  CHECK(bits.changed_share_d_kv > 0.05);
  CHECK(bits.allowed_share == 0.01);
  CHECK_FALSE(problem.compare(results).wrong());  // every error bound lets it through
}

TEST_CASE("compare_bits: layers add up, and control runs of other slots serve") {
  const Problem problem(make_case({5}, 3, 2), normal_but({}));
  const Problem control(make_case({5}, 0, 1), normal_but({}));
  LayerResults results = copy(problem.right);
  Judgement judgement;
  compare_bits(problem.point, 0, results, control.right, judgement);
  CHECK(judgement.bits.equal);
  turn_bit(results.out, 3);
  compare_bits(problem.point, 1, results, control.right, judgement);
  compare_bits(problem.point, 2, problem.right, control.right, judgement);
  CHECK_FALSE(judgement.bits.equal);
  const Problem shorter(make_case({4}, 0, 1));
  CHECK_THROWS_WITH(compare_bits(problem.point, 1, problem.right, shorter.right, judgement),
                    "layer 1 of the W = 1 run of W2/5+3/H4:2/D4/fp32/a2a/cpu/s7: expected at least 5 rows, "
                    "seen 4");
}

}  // namespace
}  // namespace straddle::harness
