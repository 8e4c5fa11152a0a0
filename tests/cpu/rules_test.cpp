// Rows without keys, keys without queries, rows of no segment, LSE of -inf: what must be written, exactly.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "cpu/kernels.hpp"
#include "support/definition.hpp"

namespace straddle::cpu::test {
namespace {

using tensor::DType;
using tensor::Tensor;

std::vector<std::unique_ptr<kernel::Kernel>> both_kernels() {
  std::vector<std::unique_ptr<kernel::Kernel>> kernels;
  kernels.push_back(blockwise_kernel());
  kernels.push_back(dense_kernel());
  return kernels;
}

void check_both(const Problem& problem) {
  const Expected expected = define(problem);
  for (const auto& kernel : both_kernels()) {
    const Worst worst = worst_of(problem, expected, run(*kernel, problem));
    INFO(kernel->name(), ": ", worst.where);
    CHECK(worst.used <= 1);
  }
}

bool all_of_row(const Tensor& tensor, std::int64_t row, double wanted) {
  const auto values = values_of(tensor);
  const auto size = static_cast<std::int64_t>(values.size()) / tensor.shape().size(tensor::Axis::token);
  for (std::int64_t i = row * size; i < (row + 1) * size; ++i) {
    if (values[static_cast<std::size_t>(i)] != wanted) return false;
  }
  return true;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("2 queries, 1 key: the first query sees nothing and gets 0, -inf, 0") {
  for (const auto& kernel : both_kernels()) {
    const Outcome outcome = run(*kernel, random_problem({2, 1, 4, 4}, {0, 2}, {0, 1}));
    CHECK(all_of_row(outcome.out, 0, 0));
    CHECK(all_of_row(outcome.lse, 0, -kInfinity));
    CHECK(all_of_row(outcome.d_q, 0, 0));
    CHECK(!all_of_row(outcome.out, 1, 0));
    CHECK(!all_of_row(outcome.lse, 1, -kInfinity));
  }
}

TEST_CASE("many more queries than keys: cu_q [0, 76, 110, 256], cu_k [0, 1, 2, 3], D32") {
  check_both(random_problem({1, 1, 32, 32}, {0, 76, 110, 256}, {0, 1, 2, 3}));
}

TEST_CASE("a segment without queries: its keys' gradients are 0, not what was there") {
  const Problem problem = random_problem({2, 1, 4, 4}, {0, 0, 3}, {0, 2, 5});
  for (const auto& kernel : both_kernels()) {
    const Outcome outcome = run(*kernel, problem);
    for (const std::int64_t row : {0, 1}) {
      CHECK(all_of_row(outcome.d_k, row, 0));
      CHECK(all_of_row(outcome.d_v, row, 0));
    }
    CHECK(!all_of_row(outcome.d_k, 2, 0));
    CHECK(!all_of_row(outcome.d_v, 2, 0));
  }
  check_both(problem);
}

TEST_CASE("empty segments at D256: cu_q [0, 0, 3, 5, 5], cu_k [0, 2, 6, 8, 9], bf16") {
  check_both(random_problem({4, 1, 256, 256}, {0, 0, 3, 5, 5}, {0, 2, 6, 8, 9}, {.dtype = DType::bf16}));
}

TEST_CASE("longest query segment of 1; fewer query rows than segments; one token of one head") {
  check_both(random_problem({9, 3, 64, 64}, {0, 1, 1, 2}, {0, 3, 3, 8}));
  check_both(random_problem({21, 7, 120, 120}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 1}));
  check_both(random_problem({1, 1, 16, 16}, {0, 1}, {0, 1}));
}

TEST_CASE("rows behind the last boundary are written, whatever q, k, v and d_out hold there") {
  const Problem problem = random_problem({4, 2, 8, 6}, {0, 5, 8}, {0, 5, 8}, {.padding = 3});
  for (const auto& kernel : both_kernels()) {
    const Outcome outcome = run(*kernel, problem);
    for (const std::int64_t row : {8, 9, 10}) {
      CHECK(all_of_row(outcome.out, row, 0));
      CHECK(all_of_row(outcome.lse, row, -kInfinity));
      CHECK(all_of_row(outcome.d_q, row, 0));
      CHECK(all_of_row(outcome.d_k, row, 0));
      CHECK(all_of_row(outcome.d_v, row, 0));
    }
  }
}

TEST_CASE("no segments at all, and no rows at all") {
  check_both(random_problem({2, 1, 4, 4}, {0}, {0}, {.padding = 3}));
  check_both(random_problem({2, 1, 4, 4}, {0}, {0}));
  check_both(random_problem({2, 1, 4, 4}, {0, 0, 0}, {0, 0, 0}));
}

TEST_CASE("backward: a row whose LSE is -inf gives nothing, though it sees keys and holds NaN") {
  constexpr std::int32_t kLength = 20;
  constexpr std::int64_t kSilent = 13;
  const Problem problem = random_problem({1, 1, 8, 8}, {0, kLength}, {0, kLength}, {.d_lse = false});
  // The same with a zero gradient in that row, by the rules of the definition.
  Problem zeroed = random_problem({1, 1, 8, 8}, {0, kLength}, {0, kLength}, {.d_lse = false});
  for (float& value : zeroed.d_out.view().slice(tensor::Axis::token, kSilent, 1).span<float>()) value = 0;
  const Expected expected = define(zeroed);
  for (const auto& kernel : both_kernels()) {
    Outcome outcome = run(*kernel, problem);
    Problem broken = random_problem({1, 1, 8, 8}, {0, kLength}, {0, kLength}, {.d_lse = false});
    outcome.lse.view().span<float>()[kSilent] = -std::numeric_limits<float>::infinity();
    tensor::poison(broken.q.view().slice(tensor::Axis::token, kSilent, 1));
    tensor::poison(broken.d_out.view().slice(tensor::Axis::token, kSilent, 1));
    tensor::poison(outcome.out.view().slice(tensor::Axis::token, kSilent, 1));
    kernel->backward(broken.varlen(),
                     {outcome.out.view(), outcome.lse.view(), broken.d_out.view(), std::nullopt},
                     {outcome.d_q.view(), outcome.d_k.view(), outcome.d_v.view()});
    CHECK(all_of_row(outcome.d_q, kSilent, 0));
    // What forward gave for that row is judged elsewhere.
    const Outcome forward_only = run(*kernel, zeroed);
    Outcome judged;
    judged.out = Tensor(DType::fp32, outcome.out.shape());
    judged.lse = Tensor(DType::fp32, outcome.lse.shape());
    tensor::convert(forward_only.out.view(), judged.out.view());
    tensor::convert(forward_only.lse.view(), judged.lse.view());
    judged.d_q = std::move(outcome.d_q);
    judged.d_k = std::move(outcome.d_k);
    judged.d_v = std::move(outcome.d_v);
    const Worst worst = worst_of(zeroed, expected, judged);
    INFO(kernel->name(), ": ", worst.where);
    CHECK(worst.used <= 1);
  }
}

TEST_CASE("backward over some of a row's keys with the LSE of all of them gives the parts of the whole") {
  const Problem whole = random_problem({2, 1, 8, 8}, {0, 1}, {0, 300}, {.dtype = DType::fp64});
  for (const auto& kernel : both_kernels()) {
    const Outcome expected = run(*kernel, whole);
    const auto d_k_whole = values_of(expected.d_k), d_v_whole = values_of(expected.d_v);
    std::vector<double> d_q_sum(values_of(expected.d_q).size());
    for (const auto& [begin, end] : {std::pair{0, 120}, {120, 300}}) {
      const Problem part = cut(whole, 0, 1, begin, end);
      Outcome got = run(*kernel, part);
      kernel->backward(part.varlen(),
                       {expected.out.view(), expected.lse.view(), part.d_out.view(), part.d_lse.view()},
                       {got.d_q.view(), got.d_k.view(), got.d_v.view()});
      const auto d_q = values_of(got.d_q), d_k = values_of(got.d_k), d_v = values_of(got.d_v);
      for (std::size_t i = 0; i < d_q.size(); ++i) d_q_sum[i] += d_q[i];
      for (std::size_t i = 0; i < d_k.size(); ++i) {
        const std::size_t j = i + static_cast<std::size_t>(begin) * 8;
        REQUIRE(d_k[i] == doctest::Approx(d_k_whole[j]).epsilon(1e-12));
        REQUIRE(d_v[i] == doctest::Approx(d_v_whole[j]).epsilon(1e-12));
      }
    }
    for (std::size_t i = 0; i < d_q_sum.size(); ++i) {
      CHECK(d_q_sum[i] == doctest::Approx(values_of(expected.d_q)[i]).epsilon(1e-10));
    }
  }
}

TEST_CASE("backward takes Delta from the out it is given") {
  // One key: P = 1, so dS = <dO, v> - <dO, O>; with O = 0 it is <dO, v>, and dQ = sc dS k.
  const Problem problem =
      random_problem({1, 1, 3, 3}, {0, 1}, {0, 1}, {.dtype = DType::fp64, .d_lse = false});
  const auto k = values_of(problem.k), v = values_of(problem.v), d_out = values_of(problem.d_out);
  const double d_s = d_out[0] * v[0] + d_out[1] * v[1] + d_out[2] * v[2];
  for (const auto& kernel : both_kernels()) {
    Outcome outcome = run(*kernel, problem);
    for (double& value : outcome.out.view().span<double>()) value = 0;
    kernel->backward(problem.varlen(),
                     {outcome.out.view(), outcome.lse.view(), problem.d_out.view(), std::nullopt},
                     {outcome.d_q.view(), outcome.d_k.view(), outcome.d_v.view()});
    for (std::size_t d = 0; d < 3; ++d) {
      CHECK(values_of(outcome.d_q)[d] == doctest::Approx(problem.softmax_scale * d_s * k[d]));
    }
  }
}

TEST_CASE("logits that are all -inf give 0 and -inf; one finite logit among them gives its value") {
  Problem problem = random_problem({1, 1, 1, 1}, {0, 400}, {0, 400}, {.d_lse = false});
  for (float& value : problem.q.view().span<float>()) value = std::numeric_limits<float>::max();
  for (float& value : problem.k.view().span<float>()) value = -std::numeric_limits<float>::max();
  problem.k.view().span<float>()[300] = 0;
  for (const auto& kernel : both_kernels()) {
    const Outcome outcome = run(*kernel, problem);
    for (const std::int64_t row : {0, 299}) {
      CHECK(all_of_row(outcome.out, row, 0));
      CHECK(all_of_row(outcome.lse, row, -kInfinity));
      CHECK(all_of_row(outcome.d_q, row, 0));
    }
    CHECK(all_of_row(outcome.out, 399, static_cast<double>(problem.v.view().span<float>()[300])));
    CHECK(all_of_row(outcome.lse, 399, 0));
  }
}

TEST_CASE("a NaN in a query reaches its own row and the keys it sees, nothing else of the query's side") {
  Problem problem = random_problem({2, 1, 8, 8}, {0, 10}, {0, 10});
  const auto kernels = both_kernels();
  for (const auto& kernel : kernels) {
    const Outcome before = run(*kernel, problem);
    Problem broken = random_problem({2, 1, 8, 8}, {0, 10}, {0, 10});
    tensor::poison(broken.q.view().slice(tensor::Axis::token, 6, 1));
    const Outcome after = run(*kernel, broken);
    CHECK(different_rows("out", before.out, 0, after.out, 0, 6) == "");
    CHECK(different_rows("out", before.out, 7, after.out, 7, 3) == "");
    CHECK(different_rows("d_q", before.d_q, 0, after.d_q, 0, 6) == "");
    CHECK(different_rows("d_q", before.d_q, 7, after.d_q, 7, 3) == "");
    const auto lse = values_of(after.lse);
    CHECK(std::isnan(lse[12]));
    CHECK(std::isnan(lse[13]));
  }
}

TEST_CASE("dense: NaN in keys that a row doesn't see stays out of it") {
  const Problem problem = random_problem({2, 1, 8, 8}, {0, 10}, {0, 10});
  Problem broken = random_problem({2, 1, 8, 8}, {0, 10}, {0, 10});
  tensor::poison(broken.k.view().slice(tensor::Axis::token, 9, 1));
  tensor::poison(broken.v.view().slice(tensor::Axis::token, 9, 1));
  const auto kernel = dense_kernel();
  const Outcome before = run(*kernel, problem), after = run(*kernel, broken);
  CHECK(different_rows("out", before.out, 0, after.out, 0, 9) == "");
  CHECK(different_rows("lse", before.lse, 0, after.lse, 0, 9) == "");
  CHECK(different_rows("d_q", before.d_q, 0, after.d_q, 0, 9) == "");
}

TEST_CASE("kernels say what they are and what they can't run") {
  const auto blockwise = blockwise_kernel(), dense = dense_kernel();
  CHECK(blockwise->name() == "cpu");
  CHECK(blockwise->varlen());
  CHECK(dense->name() == "dense");
  CHECK(!dense->varlen());
  for (const auto& kernel : both_kernels()) {
    CHECK(&kernel->memory() == &tensor::host_memory());
    CHECK(!kernel->unsupported({DType::bf16, 9, 3, 1, 300}));
    CHECK(kernel->unsupported({DType::i32, 1, 1, 1, 1}) ==
          "dtype must be fp64, fp32, bf16 or fp16, but is i32");
    CHECK(kernel->unsupported({DType::fp32, 5, 2, 1, 1}) == "heads 5 is no multiple of kv_heads 2");
    CHECK(kernel->unsupported({DType::fp32, 2, 0, 1, 1}) ==
          "heads and head sizes must be at least 1, but are heads 2, kv_heads 0, head_dim 1, v_head_dim 1");
  }
  CHECK_THROWS_WITH_AS((void)blockwise_kernel(0), "threads: must be at least 1, but is 0",
                       std::invalid_argument);
}

TEST_CASE("a problem that breaks a rule is refused before anything is written") {
  const Problem problem = random_problem({2, 1, 4, 4}, {0, 3}, {0, 3});
  for (const auto& kernel : both_kernels()) {
    Outcome outcome = run(*kernel, problem);
    kernel::VarlenProblem wrong = problem.varlen();
    wrong.max_seqlen_k = 4;
    tensor::poison(outcome.out.view());
    const char* message = "max_seqlen_k: must be 3, the length of segment 0, but is 4";
    CHECK_THROWS_WITH_AS(kernel->forward(wrong, {outcome.out.view(), outcome.lse.view()}), message,
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(
        kernel->backward(wrong, {outcome.out.view(), outcome.lse.view(), problem.d_out.view(), std::nullopt},
                         {outcome.d_q.view(), outcome.d_k.view(), outcome.d_v.view()}),
        message, std::invalid_argument);
    CHECK(std::isnan(values_of(outcome.out)[0]));
  }
}

}  // namespace
}  // namespace straddle::cpu::test
