// The bits of a row depend on its document's keys alone: not on the cut, the place, the neighbours or the
// threads.
#include <doctest/doctest.h>

#include "cpu/kernels.hpp"
#include "support/problem.hpp"

namespace straddle::cpu::test {
namespace {

using tensor::Axis;
using tensor::DType;

std::string different_queries(const Outcome& a, std::int64_t a_begin, const Outcome& b, std::int64_t b_begin,
                              std::int64_t rows) {
  return different_rows("out", a.out, a_begin, b.out, b_begin, rows) +
         different_rows("lse", a.lse, a_begin, b.lse, b_begin, rows) +
         different_rows("d_q", a.d_q, a_begin, b.d_q, b_begin, rows);
}

std::string different_keys(const Outcome& a, std::int64_t a_begin, const Outcome& b, std::int64_t b_begin,
                           std::int64_t rows) {
  return different_rows("d_k", a.d_k, a_begin, b.d_k, b_begin, rows) +
         different_rows("d_v", a.d_v, a_begin, b.d_v, b_begin, rows);
}

// Queries [begin, end) with the keys before end, as a rank between two cuts has them, for all pairs of
// `cuts`.
void check_cuts(kernel::Kernel& kernel, const Problem& document, const std::vector<std::int64_t>& cuts) {
  const Outcome whole = run(kernel, document);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (std::size_t j = i + 1; j < cuts.size(); ++j) {
      const std::int64_t begin = cuts[i], end = cuts[j];
      const Outcome part = run(kernel, cut(document, begin, end, 0, end));
      INFO(kernel.name(), " ", tensor::name(document.dtype), " queries ", begin, " to ", end);
      REQUIRE(different_queries(whole, begin, part, 0, end - begin) == "");
    }
  }
}

std::vector<std::int64_t> every_cut(std::int64_t length) {
  std::vector<std::int64_t> cuts;
  for (std::int64_t cut = 0; cut <= length; ++cut) cuts.push_back(cut);
  return cuts;
}

TEST_CASE("every cut of documents of 40 rows, every dtype, several shapes of heads") {
  for (const DType dtype : {DType::fp32, DType::fp64, DType::bf16, DType::fp16}) {
    for (const Sizes& sizes : {Sizes{4, 2, 16, 8}, Sizes{3, 1, 5, 3}, Sizes{1, 1, 33, 40}}) {
      const auto blockwise = blockwise_kernel(), dense = dense_kernel();
      const Problem document = random_problem(sizes, {0, 40}, {0, 40}, {.dtype = dtype});
      check_cuts(*blockwise, document, every_cut(40));
      check_cuts(*dense, document, {0, 1, 2, 7, 8, 20, 33, 39, 40});
    }
  }
}

TEST_CASE("every cut of documents of 1 to 24 rows") {
  const auto blockwise = blockwise_kernel();
  for (std::int32_t length = 1; length <= 24; ++length) {
    check_cuts(*blockwise, random_problem({2, 1, 8, 8}, {0, length}, {0, length}), every_cut(length));
  }
}

TEST_CASE("cuts around the edges of key tiles and query tiles of a long document") {
  const auto blockwise = blockwise_kernel(), dense = dense_kernel();
  const std::vector<std::int64_t> cuts{0,   1,   63,  64,  65,  127, 129, 191, 255,
                                       256, 257, 319, 320, 321, 511, 512, 513, 600};
  check_cuts(*blockwise, random_problem({4, 1, 16, 16}, {0, 600}, {0, 600}), cuts);  // 64 tokens a query tile
  check_cuts(*blockwise, random_problem({1, 1, 16, 16}, {0, 600}, {0, 600}),
             cuts);  // 256 tokens a query tile
  check_cuts(*blockwise, random_problem({2, 1, 8, 8}, {0, 600}, {0, 600}, {.spread = {.q = 12, .k = 12}}),
             cuts);
  check_cuts(*dense, random_problem({1, 1, 4, 4}, {0, 200}, {0, 200}), {0, 1, 63, 64, 65, 128, 199, 200});
}

TEST_CASE("cuts where products underflow: no zero changes its sign") {
  const auto blockwise = blockwise_kernel();
  const Spread tiny{.q = 1e-3, .v = 1e-44, .d_out = 1e-43};
  check_cuts(*blockwise, random_problem({1, 1, 8, 8}, {0, 40}, {0, 40}, {.spread = tiny}), every_cut(40));
  const Spread steep{.q = 20, .k = 20, .v = 1e-43};
  check_cuts(*blockwise, random_problem({1, 1, 8, 8}, {0, 300}, {0, 300}, {.spread = steep}),
             {0, 1, 100, 255, 256, 257, 260, 299, 300});
}

// One document of the pack as a problem of its own, everything else of the pack NaN.
Problem with_others_nan(const Sizes& sizes, const Offsets& cu, std::size_t kept, const Options& options) {
  Problem problem = random_problem(sizes, cu, cu, options);
  const auto poison_rows = [&](std::int64_t begin, std::int64_t end) {
    for (tensor::Tensor* tensor : {&problem.q, &problem.k, &problem.v, &problem.d_out, &problem.d_lse}) {
      tensor::poison(tensor->view().slice(Axis::token, begin, end - begin));
    }
  };
  poison_rows(0, cu[kept]);
  poison_rows(cu[kept + 1], problem.tokens_q());
  return problem;
}

TEST_CASE(
    "a document has the same bits alone, in any place of a pack, and beside documents and padding of NaN") {
  const Sizes sizes{4, 2, 16, 24};
  const Offsets cu = offsets_of({3, 17, 0, 70, 1, 300, 33});
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    const Options options{.dtype = dtype, .padding = 6};
    const auto blockwise = blockwise_kernel(), dense = dense_kernel();
    for (kernel::Kernel* kernel : {blockwise.get(), dense.get()}) {
      const Problem pack = random_problem(sizes, cu, cu, options);
      const Outcome together = run(*kernel, pack);
      for (std::size_t t = 0; t + 1 < cu.size(); ++t) {
        const std::int64_t begin = cu[t], end = cu[t + 1], length = end - begin;
        INFO(kernel->name(), " ", tensor::name(dtype), " document ", t);
        const Outcome alone = run(*kernel, cut(pack, begin, end, begin, end));
        REQUIRE(different_queries(together, begin, alone, 0, length) == "");
        REQUIRE(different_keys(together, begin, alone, 0, length) == "");
        const Outcome beside_nan = run(*kernel, with_others_nan(sizes, cu, t, options));
        REQUIRE(different_queries(together, begin, beside_nan, begin, length) == "");
        REQUIRE(different_keys(together, begin, beside_nan, begin, length) == "");
      }
    }
  }
}

TEST_CASE("1, 2 and 3 threads give the same bits, also call after call on one kernel") {
  const Sizes sizes{6, 3, 16, 16};
  const Offsets cu = offsets_of({300, 5, 0, 64, 1, 90});
  const auto one = blockwise_kernel(1), two = blockwise_kernel(2), three = blockwise_kernel(3);
  for (const DType dtype : {DType::fp32, DType::fp64}) {
    const Problem pack = random_problem(sizes, cu, cu, {.dtype = dtype, .padding = 4});
    const Outcome expected = run(*one, pack);
    for (kernel::Kernel* kernel : {one.get(), two.get(), three.get(), three.get()}) {
      const Outcome got = run(*kernel, pack);
      REQUIRE(different_queries(expected, 0, got, 0, pack.tokens_q()) == "");
      REQUIRE(different_keys(expected, 0, got, 0, pack.tokens_k()) == "");
    }
  }
}

TEST_CASE("what a kernel computed before, NaN or larger, leaves no trace") {
  const auto used = blockwise_kernel();
  Problem poisoned = random_problem({4, 1, 40, 40}, {0, 600}, {0, 600});
  for (tensor::Tensor* tensor : {&poisoned.q, &poisoned.k, &poisoned.v, &poisoned.d_out}) {
    tensor::poison(tensor->view());
  }
  for (const std::int32_t length : {1, 5, 37, 300}) {
    (void)run(*used, poisoned);
    const auto fresh = blockwise_kernel();
    const Problem problem = random_problem({2, 1, 8, 20}, {0, length}, {0, length + 3});
    const Outcome expected = run(*fresh, problem), got = run(*used, problem);
    CAPTURE(length);
    REQUIRE(different_queries(expected, 0, got, 0, length) == "");
    REQUIRE(different_keys(expected, 0, got, 0, length + 3) == "");
  }
}

TEST_CASE("changing one token leaves earlier rows' bits alone and changes its own") {
  const auto blockwise = blockwise_kernel();
  const Problem before = random_problem({2, 1, 8, 8}, {0, 300}, {0, 300});
  for (const std::int64_t token : {0, 1, 40, 255, 256, 299}) {
    Problem after = random_problem({2, 1, 8, 8}, {0, 300}, {0, 300});
    for (tensor::Tensor* tensor : {&after.k, &after.v}) {
      for (float& value : tensor->view().slice(Axis::token, token, 1).span<float>()) value += 1;
    }
    const Outcome a = run(*blockwise, before), b = run(*blockwise, after);
    CAPTURE(token);
    CHECK(different_queries(a, 0, b, 0, token) == "");
    CHECK(different_rows("out", a.out, token, b.out, token, 1) != "");
    CHECK(different_rows("lse", a.lse, token, b.lse, token, 1) != "");
  }
}

}  // namespace
}  // namespace straddle::cpu::test
