#include <doctest/doctest.h>

#include <set>

#include "families.hpp"
#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

Judgement check(const Problem& problem, const LayerResults& results) {
  Judgement judgement;
  check_invariants(problem.point, 0, problem.inputs.layer(0), results, judgement);
  return judgement;
}

// "I3 d1 h0", ..
std::set<std::string> broken(const Judgement& judgement) {
  std::set<std::string> all;
  for (const InvariantVerdict& verdict : judgement.invariants) {
    if (!verdict.broken()) continue;
    all.insert(verdict.id + " d" + std::to_string(verdict.document) + " h" + std::to_string(verdict.head));
  }
  return all;
}

std::set<std::string> of_document(std::int64_t document, const std::vector<std::string>& ids) {
  std::set<std::string> all;
  for (const std::string& id : ids) {
    for (const char* head : {"0", "1"}) all.insert(id + " d" + std::to_string(document) + " h" + head);
  }
  return all;
}

// dK and dV are linear in the query rows: the contribution of rank `source`'s rows is what the reference
// gives with dO = 0 on all others.
OracleLayer contribution(const Case& point, std::int64_t source) {
  const TableInputs part(point, normal_but({{"d_out", [&](double g, std::int64_t token, auto, auto) {
                                               return token / point.rows_per_rank() == source ? g : 0.0;
                                             }}}));
  return std::move(oracle_of(point, part)[0]);
}

// result (token, ..) = change(exact value, contribution of rank source) on the rows of ranks before source.
LayerResults with_partial(const Problem& problem, std::int64_t source,
                          const std::function<double(double, double)>& change) {
  const OracleLayer part = contribution(problem.point, source);
  LayerResults results = copy(problem.right);
  for (const std::string name : {"d_k", "d_v"}) {
    Tensor& tensor = results.by_name(name);
    const std::int64_t row = tensor.shape().numel() / tensor.shape().size(tensor::Axis::token);
    const Tensor& exact = problem.oracle[0].results.by_name(name);
    for (std::int64_t i = 0; i < source * problem.point.rows_per_rank() * row; ++i) {
      set(tensor, i, change(get(exact, i), get(part.results.by_name(name), i)));
    }
  }
  return results;
}

const Size kD64{.head_dim = 64, .v_head_dim = 64};

TEST_CASE("check_invariants: right results hold in every dtype, and each one checked is listed") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16}) {
    const Problem problem(make_case({1, 6, 3}, 2, 2, dtype), normal_but({}));
    const Judgement judgement = check(problem, problem.right);
    CHECK(broken(judgement).empty());
    CHECK(judgement.invariants.size() == 3 * 2 * 5);  // documents, kv heads, I2 to I6
    CHECK(judgement.invariants[0].id == "I2");
    CHECK(judgement.invariants[0].sentence == "sum_j dK_j = 0");
    CHECK(judgement.invariants[1].sentence == "sum_j dV_j = sum_h sum_i dO_i");
  }
}

TEST_CASE("check_invariants: a lost partial breaks I2 to I5 of its document alone") {
  for (const DType dtype : {DType::fp64, DType::fp32}) {
    const Problem problem(make_case({2, 11, 3}, 0, 4, dtype, kD64), normal_but({}));
    const auto lost = with_partial(problem, 2, [](double exact, double part) { return exact - part; });
    CHECK(broken(check(problem, lost)) == of_document(1, {"I2", "I3", "I4", "I5"}));
    const auto doubled = with_partial(problem, 2, [](double exact, double part) { return exact + part; });
    CHECK(broken(check(problem, doubled)) == of_document(1, {"I2", "I3", "I4", "I5"}));
  }
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    const Problem problem(make_case({2, 11, 3}, 0, 4, dtype, kD64), normal_but({}));
    const auto lost = with_partial(problem, 2, [](double exact, double part) { return exact - part; });
    CHECK(broken(check(problem, lost)).contains("I3 d1 h0"));
  }
  const Problem longer(make_case({300}, 0, 4, DType::fp32, kD64), normal_but({}));
  const auto lost = with_partial(longer, 2, [](double exact, double part) { return exact - part; });
  CHECK(broken(check(longer, lost)) == of_document(0, {"I2", "I3", "I4", "I5"}));
}

TEST_CASE("check_invariants: the mean for the sum breaks I3 to I5, and I2 is blind to a scale") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16}) {
    const Problem problem(make_case({5, 3}, 0, 2, dtype), normal_but({}));
    LayerResults results = copy(problem.right);
    for (const std::string name : {"d_k", "d_v"}) {
      Tensor& tensor = results.by_name(name);
      for (std::int64_t i = 0; i < tensor.shape().numel(); ++i) set(tensor, i, get(tensor, i) / 2);
    }
    const auto seen = broken(check(problem, results));
    CAPTURE(tensor::name(dtype));
    CHECK(seen.contains("I3 d0 h0"));
    CHECK(seen.contains("I3 d1 h1"));
    CHECK(seen.contains("I5 d0 h1"));
    CHECK_FALSE(seen.contains("I2 d0 h0"));
    if (dtype == DType::fp32) CHECK(seen.contains("I4 d0 h0"));
  }
}

TEST_CASE("check_invariants: a leak from the document before breaks I6 of every other document") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16}) {
    const Case point = make_case({4, 4}, 0, 1, dtype);
    const Problem problem(point, normal_but({}));
    // Plain causal attention over the whole row: document 1 sees document 0.
    Case merged = point;
    merged.pack.documents = {{0, 8}};
    const LayerResults results = right_results(point, oracle_of(merged, problem.inputs)[0], dtype);
    const auto seen = broken(check(problem, results));
    CHECK(seen.contains("I6 d1 h0"));
    CHECK(seen.contains("I6 d1 h1"));
    CHECK_FALSE(seen.contains("I6 d0 h0"));
    CHECK(seen.contains("I3 d0 h0"));
  }
}

TEST_CASE("check_invariants: I6 sees a dQ that is not 0 or an O that is not v, in either head of a group") {
  const Problem problem(make_case({3, 2}, 0, 1), normal_but({}));
  for (const std::int64_t head : {0, 1, 2, 3}) {
    LayerResults results = copy(problem.right);
    set(results.d_q, index_of(results.d_q, 3, head, 2), 1e-4);
    CHECK(broken(check(problem, results)).contains("I6 d1 h" + std::to_string(head / 2)));
    LayerResults other = copy(problem.right);
    const std::int64_t first = index_of(other.out, 3, head, 1);
    set(other.out, first, get(other.out, first) * 1.0001);
    CHECK(broken(check(problem, other)).contains("I6 d1 h" + std::to_string(head / 2)));
  }
}

TEST_CASE("check_invariants: with a gradient of LSE, I2 and I6 have its term") {
  Case point = make_case({1, 6, 3}, 0, 2);
  point.inputs.d_lse = true;
  const Problem problem(point, normal_but({}));
  const Judgement judgement = check(problem, problem.right);
  CHECK(broken(judgement).empty());
  CHECK(judgement.invariants[0].sentence == "sum_j dK_j = sc sum_h sum_i dLSE_i q_i");
  // The results without dLSE in place of those with it.
  Case without = point;
  without.inputs.d_lse = false;
  const LayerResults results = right_results(point, oracle_of(without, problem.inputs)[0], DType::fp32);
  const auto seen = broken(check(problem, results));
  CHECK(seen.contains("I2 d1 h0"));
  CHECK(seen.contains("I6 d1 h1"));
}

TEST_CASE("check_invariants: V = 1 gives I1, and it sees a normalisation that lost a key") {
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    Case point = make_case({2, 40}, 0, 1, dtype);
    point.inputs.kind = InputKind::v_one;
    const Problem problem(point, normal_but({{"v", [](auto...) { return 1.0; }}}));
    const Judgement judgement = check(problem, problem.right);
    CHECK(broken(judgement).empty());
    CHECK(judgement.invariants[0].id == "I1");
    LayerResults results = copy(problem.right);
    set(results.out, index_of(results.out, 41, 3, 2), 39.0 / 40);
    const auto seen = broken(check(problem, results));
    CHECK(seen.contains("I1 d1 h1"));
    CHECK_FALSE(seen.contains("I1 d1 h0"));
    CHECK_FALSE(seen.contains("I1 d0 h1"));
  }
}

TEST_CASE("check_invariants: K = 0 gives I16, and it counts keys") {
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    Case point = make_case({3, 5}, 0, 1, dtype);
    point.inputs.kind = InputKind::k_zero;
    const Problem problem(point, normal_but({{"k", times(0)}}));
    CHECK(broken(check(problem, problem.right)).empty());
    CHECK(check(problem, problem.right).invariants.back().id == "I16");
    LayerResults lse = copy(problem.right);
    set(lse.lse, index_of(lse.lse, 7, 2, 0), std::log(4.0));  // one key too few
    CHECK(broken(check(problem, lse)) == std::set<std::string>{"I16 d1 h1"});
    LayerResults out = copy(problem.right);
    set(out.out, index_of(out.out, 4, 0, 1), get(out.out, index_of(out.out, 3, 0, 1)));
    CHECK(broken(check(problem, out)).contains("I16 d1 h0"));
  }
}

TEST_CASE("check_invariants: NaN anywhere in the results breaks something") {
  Case point = make_case({3}, 0, 1, DType::fp32, {.heads = 2, .kv_heads = 1, .head_dim = 2, .v_head_dim = 2});
  point.inputs.kind = InputKind::k_zero;
  const Problem problem(point, normal_but({{"k", times(0)}}));
  for (const std::string_view name : kResultNames) {
    for (std::int64_t i = 0; i < problem.right.by_name(name).shape().numel(); ++i) {
      LayerResults results = copy(problem.right);
      set(results.by_name(name), i, std::numeric_limits<double>::quiet_NaN());
      CAPTURE(name);
      CAPTURE(i);
      CHECK_FALSE(broken(check(problem, results)).empty());
    }
  }
}

TEST_CASE("check_invariants: padding that holds NaN is not read") {
  const Problem problem(
      make_case({1, 6}, 3, 2), [](const std::string& name, std::int64_t token, auto h, auto d) {
        return token >= 7 ? std::numeric_limits<double>::quiet_NaN() : normal_at(name, token, h, d);
      });
  CHECK(broken(check(problem, problem.right)).empty());
}

}  // namespace
}  // namespace straddle::harness
