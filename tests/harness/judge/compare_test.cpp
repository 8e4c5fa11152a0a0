#include <doctest/doctest.h>

#include <cmath>

#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const DType kDTypes[] = {DType::fp64, DType::fp32, DType::bf16, DType::fp16};

const pack::Document& document_at(const Case& point, std::int64_t token, std::int64_t& index) {
  for (index = 0;; ++index) {
    const auto& document = point.pack.documents[static_cast<std::size_t>(index)];
    if (document.start <= token && token < document.end()) return document;
  }
}

// The bounds of docs/math.md word for word, for a result whose only error is in one element: what that error
// may be by the element's, the row's and the document's rule.
struct OneError {
  double element, row, document;
  [[nodiscard]] double least() const { return std::min({element, row, document}); }
};

OneError allowed_by_definition(const Case& point, const OracleLayer& oracle, const std::string& name,
                               std::int64_t index) {
  const Tensor& want = oracle.results.by_name(name);
  const std::int64_t heads = want.shape().size(tensor::Axis::head);
  const std::int64_t dim = want.shape().size(tensor::Axis::dim);
  std::int64_t d = 0;
  const pack::Document& document = document_at(point, index / dim / heads, d);
  double u = 0x1p-24, us = 0, eta = 0x1p-126;
  if (point.dtype == DType::fp64) u = 0x1p-52, eta = 0x1p-1022;
  if (point.dtype == DType::bf16) us = 0x1p-8;
  if (point.dtype == DType::fp16) us = 0x1p-11, eta = 0x1p-25;
  const double uf = u * (1 + oracle.largest_logit[static_cast<std::size_t>(d)] / 8);
  const auto norm = [&](const Tensor& tensor, std::int64_t first_row, std::int64_t rows, std::int64_t step) {
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < dim; ++i) {
        sum += std::pow(get(tensor, (first_row + r * step) * dim + i), 2);
      }
    }
    return std::sqrt(sum);
  };
  const Tensor& sigma = oracle.sigma.at(name);
  const Tensor& tau = oracle.tau.at(name);
  const double n = name == "d_q" || name == "d_k" ? 3 : 2;
  const double c = name == "d_q" ? 128 : 64;
  const std::int64_t row = index / dim, first = document.start * heads, all = document.length * heads;
  const double rms = norm(want, first + row % heads, document.length, heads) / std::sqrt(document.length);
  OneError allowed{};
  allowed.element = (128 * uf + n * us) * get(sigma, index) + eta * (4 * get(tau, index) + 1);
  allowed.row = c * uf * (norm(want, row, 1, 1) + rms) + (4 * uf + 2 * us) * norm(sigma, row, 1, 1) +
                eta * (4 * norm(tau, row, 1, 1) + std::sqrt(dim));
  const double a = 1 + 3 / std::sqrt(static_cast<double>(all));
  allowed.document = (32 * uf + us) * norm(want, first, all, 1) +
                     a * (uf + us / 2) * norm(sigma, first, all, 1) +
                     eta * (4 * norm(tau, first, all, 1) + std::sqrt(static_cast<double>(all * dim)));
  return allowed;
}

TEST_CASE("compare_layer: right results pass in every dtype, in every criterion") {
  for (const DType dtype : kDTypes) {
    const Problem problem(make_case({1, 6, 3}, 2, 2, dtype));
    const Judgement judgement = problem.compare(problem.right);
    CAPTURE(tensor::name(dtype));
    CHECK(judgement.tensors.size() == 15);
    CHECK(judgement.padding.size() == 5);
    CHECK(judgement.worst_ratio() <= (dtype == DType::fp64 ? 0 : 1));
    CHECK_FALSE(judgement.wrong());
    CHECK(judgement.zero_references.empty());
  }
}

TEST_CASE("compare_layer: an element off by 4 times its bound is wrong, wherever it is") {
  for (const DType dtype : kDTypes) {
    const Problem problem(make_case({1, 6, 3}, 2, 2, dtype, {.heads = 2, .kv_heads = 1, .v_head_dim = 3}));
    for (const std::string name : {"out", "d_q", "d_k", "d_v", "lse"}) {
      const std::int64_t elements = problem.oracle[0].results.by_name(name).shape().numel();
      for (std::int64_t index = 0; index < elements; ++index) {
        LayerResults results = copy(problem.right);
        Tensor& tensor = results.by_name(name);
        const std::int64_t row = tensor.shape().numel() / tensor.shape().size(tensor::Axis::token);
        std::int64_t document = 0;
        document_at(problem.point, index / row, document);
        const double largest_logit = problem.oracle[0].largest_logit[static_cast<std::size_t>(document)];
        const double u = dtype == DType::fp64 ? 0x1p-52 : 0x1p-24;
        const double bound =
            name == "lse" ? 128 * u * (1 + largest_logit / 8)
                          : allowed_by_definition(problem.point, problem.oracle[0], name, index).element;
        set(tensor, index, get(tensor, index) + (index % 2 == 0 ? 4 : -4) * bound);
        const Judgement judgement = problem.compare(results);
        CAPTURE(tensor::name(dtype));
        CAPTURE(name);
        CAPTURE(index);
        REQUIRE(wrong_tensors(judgement) == std::vector{name + " d" + std::to_string(document)});
        const TensorVerdict& verdict = verdict_of(judgement, name, document);
        REQUIRE(verdict.wrong_rows == 1);
        REQUIRE(verdict.first.has_value());
        REQUIRE(index_of(tensor, verdict.first->token, verdict.first->head, verdict.first->dim) == index);
      }
    }
  }
}

TEST_CASE("compare_layer: 0.9 of the tightest bound passes, 1.1 does not, and the criterion is named") {
  for (const DType dtype : kDTypes) {
    const Problem problem(make_case({9, 4}, 0, 1, dtype, {.heads = 2, .kv_heads = 1, .head_dim = 8}));
    const LayerResults exact = right_results(problem.point, problem.oracle[0], DType::fp64);
    int criteria = 0;
    for (const std::string name : {"out", "d_q", "d_k", "d_v"}) {
      const std::int64_t elements = exact.by_name(name).shape().numel();
      for (std::int64_t index = 0; index < elements; ++index) {
        const OneError allowed = allowed_by_definition(problem.point, problem.oracle[0], name, index);
        CAPTURE(tensor::name(dtype));
        CAPTURE(name);
        CAPTURE(index);
        const auto judge = [&](double error) {
          LayerResults results = copy(exact);
          set(results.by_name(name), index, get(results.by_name(name), index) + error);
          return problem.compare(results);
        };
        const Judgement fine = judge(0.9 * allowed.least());
        REQUIRE_FALSE(fine.wrong());
        REQUIRE(fine.worst_ratio() == doctest::Approx(0.9).epsilon(0.02));
        const Judgement wrong = judge(1.1 * allowed.least());
        REQUIRE(wrong.wrong());
        REQUIRE(wrong.worst()->ratio == doctest::Approx(1.1).epsilon(0.02));
        const Criterion criterion = wrong.worst()->criterion;
        criteria |= 1 << static_cast<int>(criterion);
        const double binding = criterion == Criterion::element ? allowed.element
                               : criterion == Criterion::row   ? allowed.row
                                                               : allowed.document;
        REQUIRE(binding == doctest::Approx(allowed.least()));
      }
    }
    // Roundings to 16 bit are allowed for in the norms, so one error alone breaks its element's bound first.
    const int element = 1 << static_cast<int>(Criterion::element);
    const int norms = 1 << static_cast<int>(Criterion::document) | 1 << static_cast<int>(Criterion::row);
    CHECK(criteria == (tensor::size_bytes(dtype) == 2 ? element : element | norms));
  }
}

TEST_CASE("compare_layer: a 1-token document does not hide under a long one") {
  const Problem problem(make_case({300, 1}, 0, 2));
  LayerResults results = copy(problem.right);
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t index = index_of(results.d_v, 300, 0, i);
    set(results.d_v, index, get(results.d_v, index) * 1.0001);
  }
  CHECK(wrong_tensors(problem.compare(results)) == std::vector<std::string>{"d_v d1"});
}

TEST_CASE("compare_layer: NaN and infinities are wrong at every place and are named") {
  for (const DType dtype : kDTypes) {
    const Problem problem(make_case({2, 3}, 0, 1, dtype, {.heads = 2, .kv_heads = 1, .head_dim = 2}));
    for (const std::string_view name : kResultNames) {
      for (std::int64_t index = 0; index < problem.right.by_name(name).shape().numel(); ++index) {
        for (const double value : {kNaN, kInfinity, -kInfinity}) {
          LayerResults results = copy(problem.right);
          set(results.by_name(name), index, value);
          const Judgement judgement = problem.compare(results);
          REQUIRE(wrong_tensors(judgement).size() == 1);
          const TensorVerdict& verdict = *judgement.worst();
          REQUIRE(verdict.tensor == name);
          REQUIRE(verdict.criterion == Criterion::not_finite);
          REQUIRE(verdict.ratio == kInfinity);
          REQUIRE(verdict.first.has_value());
          REQUIRE(index_of(results.by_name(name), verdict.first->token, verdict.first->head,
                           verdict.first->dim) == index);
          REQUIRE(index_of(results.by_name(name), verdict.worst->token, verdict.worst->head,
                           verdict.worst->dim) == index);
        }
      }
    }
  }
}

TEST_CASE("compare_layer: a NaN is named before a non-zero where 0 is due, in whichever order") {
  const Value zero_d_out = [](const std::string& name, std::int64_t t, std::int64_t h, std::int64_t d) {
    return name == "d_out" ? 0.0 : std::sin(static_cast<double>(t + 3 * h + 7 * d));
  };
  const Problem problem(make_case({5}, 0, 1), zero_d_out);
  for (const bool swap : {false, true}) {
    LayerResults results = copy(problem.right);
    set(results.d_v, swap ? 9 : 8, kNaN);
    set(results.d_v, swap ? 8 : 9, 1e-30);
    const TensorVerdict verdict = verdict_of(problem.compare(results), "d_v", 0);
    CHECK(verdict.criterion == Criterion::not_finite);
    CHECK(std::isnan(verdict.worst->got));
    CHECK(verdict.first->dim == 0);
  }
}

TEST_CASE("compare_layer: without d_out the gradients must be exactly 0") {
  const Value value = [](const std::string& name, std::int64_t t, std::int64_t h, std::int64_t d) {
    return name == "d_out" ? 0.0 : std::sin(static_cast<double>(1 + t + 3 * h + 7 * d));
  };
  const Problem problem(make_case({3, 2}, 0, 2), value);
  const Judgement right = problem.compare(problem.right);
  CHECK_FALSE(right.wrong());
  CHECK(right.zero_references == std::vector<std::string>{"d_q", "d_k", "d_v"});
  CHECK(verdict_of(right, "d_k", 1).reference_zero);
  CHECK_FALSE(verdict_of(right, "out", 1).reference_zero);
  for (const std::string name : {"d_q", "d_k", "d_v"}) {
    LayerResults results = copy(problem.right);
    set(results.by_name(name), 5, 1e-44);  // the smallest fp32 is 1.4e-45
    const TensorVerdict verdict = verdict_of(problem.compare(results), name, 0);
    CHECK(verdict.criterion == Criterion::exact_zero);
    CHECK(verdict.ratio == kInfinity);
    CHECK(verdict.allowed == 0);
    CHECK(verdict.used == doctest::Approx(1e-44).epsilon(0.1));
  }
}

TEST_CASE("compare_layer: a reference that is 0 but for the oracle's own rounding counts as 0") {
  // V = 1: dS_ij = P_ij (<dO_i, 1> - Delta_i) = 0 in exact arithmetic.
  Case point = make_case({7}, 0, 1);
  point.inputs.kind = InputKind::v_one;
  auto normal = standard_normal(3);
  const Problem problem(point, [&](const std::string& name, std::int64_t t, std::int64_t h, std::int64_t d) {
    return name == "v" ? 1.0 : normal(name, t, h, d);
  });
  CHECK(problem.compare(problem.right).zero_references == std::vector<std::string>{"d_q", "d_k"});
}

TEST_CASE("compare_layer: zero_references are of the whole case, not of its last layer") {
  Case point = make_case({3}, 0, 1);
  point.layers = 2;
  int calls = 0;
  const Problem problem(point, [&](const std::string& name, std::int64_t, std::int64_t, std::int64_t) {
    ++calls;
    return name == "d_out" && calls > 200 ? 0.0 : std::cos(calls);
  });
  Judgement judgement;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    compare_layer(point, static_cast<std::int64_t>(layer),
                  right_results(point, problem.oracle[layer], DType::fp32), problem.oracle[layer],
                  std::nullopt, judgement);
  }
  CHECK(judgement.tensors.size() == 10);
  CHECK(judgement.tensors.back().layer == 1);
  CHECK(judgement.tensors.back().reference_zero);
  CHECK_FALSE(judgement.tensors[4].reference_zero);
  CHECK(judgement.zero_references.empty());
}

TEST_CASE("compare_layer: fp64 bounds for the plan run of a bf16 case see what bf16 bounds let pass") {
  const Problem problem(make_case({5}, 0, 1, DType::bf16));
  LayerResults results = right_results(problem.point, problem.oracle[0], DType::fp64);
  set(results.out, 3, get(results.out, 3) * (1 + 1e-6));
  CHECK_FALSE(problem.compare(results).wrong());
  Judgement plan;
  compare_layer(problem.point, 0, results, problem.oracle[0], DType::fp64, plan);
  CHECK(wrong_tensors(plan) == std::vector<std::string>{"out d0"});
}

TEST_CASE("compare_layer: the float reference stands beside each verdict") {
  const Problem problem(make_case({5, 2}, 0, 1));
  const Judgement judgement = problem.compare(problem.right);
  CHECK(verdict_of(judgement, "d_k", 0).float_reference == problem.oracle[0].float_reference_used[0][3]);
  CHECK(verdict_of(judgement, "d_k", 0).float_reference > 0);
  CHECK(verdict_of(judgement, "d_k", 0).float_reference < 0.5);
  const Problem fp64(make_case({5}, 0, 1, DType::fp64));
  CHECK(std::isnan(verdict_of(fp64.compare(fp64.right), "d_k", 0).float_reference));
}

TEST_CASE("compare_layer: results and oracles of another case are refused") {
  const Problem problem(make_case({5}, 2, 2));
  LayerResults results = copy(problem.right);
  results.d_q = Tensor(DType::fp32, tensor::token_major(8, 2, 4));
  CHECK_THROWS_WITH(static_cast<void>(problem.compare(results)),
                    "result d_q of W2/5+2/H4:2/D4/fp32/a2a/cpu/s7: expected [token 8, head 4, dim 4], seen "
                    "[token 8, head 2, dim 4]; gather all rows of all ranks, padding included");
  const Problem shorter(make_case({4}, 4, 2));
  Judgement judgement;
  CHECK_THROWS_WITH(compare_layer(problem.point, 0, problem.right, shorter.oracle[0], {}, judgement),
                    "the oracle does not belong to W2/5+2/H4:2/D4/fp32/a2a/cpu/s7: expected 1 documents "
                    "ending at row 5, seen 1 and 4 rows");
}

TEST_CASE("compare_layer: a pack without documents has only padding to judge") {
  Case point = make_case({}, 4, 2);
  const Problem problem(point);
  const Judgement judgement = problem.compare(problem.right);
  CHECK(judgement.tensors.empty());
  CHECK(judgement.padding[0].rows == 4);
  CHECK(judgement.zero_references.size() == 5);
}

}  // namespace
}  // namespace straddle::harness
