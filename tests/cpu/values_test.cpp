// Both kernels against the definition, within the element bound.
#include <doctest/doctest.h>

#include "cpu/kernels.hpp"
#include "cpu/tiles.hpp"
#include "support/definition.hpp"

namespace straddle::cpu::test {
namespace {

using tensor::DType;

constexpr DType kDTypes[] = {DType::fp64, DType::fp32, DType::bf16, DType::fp16};

void check_both(const Problem& problem) {
  const Expected expected = define(problem);
  for (const auto& kernel : {blockwise_kernel(), dense_kernel()}) {
    const Worst worst = worst_of(problem, expected, run(*kernel, problem));
    INFO(kernel->name(), ": ", worst.where);
    REQUIRE(worst.used <= 1);
  }
}

void check_blockwise(const Problem& problem) {
  const auto kernel = blockwise_kernel();
  const Worst worst = worst_of(problem, define(problem), run(*kernel, problem));
  INFO(worst.where);
  REQUIRE(worst.used <= 1);
}

TEST_CASE("the bound sees an element that is wrong by four times its bound, in every tensor") {
  const Problem problem = random_problem({4, 2, 8, 6}, {0, 9}, {0, 9});
  const Expected expected = define(problem);
  const auto kernel = blockwise_kernel();
  const auto shifted = [&](tensor::Tensor Outcome::*member, const std::vector<Element>& elements, bool lse) {
    Outcome outcome = run(*kernel, problem);
    auto values = (outcome.*member).view().span<float>();
    const std::size_t i = values.size() / 2;
    const long double bound = 128 * 0x1p-24L * elements[i].f * (lse ? 1 : elements[i].sigma);
    values[i] += static_cast<float>(4 * bound);
    return static_cast<double>(worst_of(problem, expected, outcome).used);
  };
  CHECK(shifted(&Outcome::out, expected.out, false) > 1);
  CHECK(shifted(&Outcome::lse, expected.lse, true) > 1);
  CHECK(shifted(&Outcome::d_q, expected.d_q, false) > 1);
  CHECK(shifted(&Outcome::d_k, expected.d_k, false) > 1);
  CHECK(shifted(&Outcome::d_v, expected.d_v, false) > 1);
}

TEST_CASE("one segment of every length of queries and keys up to 9, all dtypes") {
  for (const DType dtype : kDTypes) {
    for (std::int32_t queries = 0; queries <= 9; ++queries) {
      for (std::int32_t keys = 0; keys <= 9; ++keys) {
        CAPTURE(tensor::name(dtype));
        CAPTURE(queries);
        CAPTURE(keys);
        check_both(random_problem({4, 2, 5, 3}, {0, queries}, {0, keys}, {.dtype = dtype, .padding = 1}));
      }
    }
  }
}

TEST_CASE("three segments of every length of queries and keys up to 2, empty ones among them") {
  for (int code = 0; code < 729; ++code) {
    std::vector<std::int32_t> lengths;
    for (int rest = code, i = 0; i < 6; ++i, rest /= 3) lengths.push_back(rest % 3);
    const Offsets cu_q = offsets_of({lengths[0], lengths[1], lengths[2]});
    const Offsets cu_k = offsets_of({lengths[3], lengths[4], lengths[5]});
    CAPTURE(code);
    check_both(random_problem({2, 1, 3, 2}, cu_q, cu_k, {.padding = 2, .seed = 7}));
  }
}

TEST_CASE("every head size, value heads of another size, all dtypes") {
  for (const DType dtype : kDTypes) {
    for (const std::int64_t head_dim : {1, 3, 16, 64, 80, 96, 128, 256}) {
      for (const std::int64_t v_head_dim : {std::int64_t{1}, head_dim, std::int64_t{72}}) {
        CAPTURE(tensor::name(dtype));
        CAPTURE(head_dim);
        CAPTURE(v_head_dim);
        check_both(random_problem({2, 1, head_dim, v_head_dim}, {0, 5, 12}, {0, 9, 16}, {.dtype = dtype}));
      }
    }
  }
}

TEST_CASE("groups of query heads: 8 over 1, 9 over 3, 16 over 2, 6 over 6, 21 over 7, and 300 over 1") {
  for (const auto& [heads, kv_heads] : {std::pair{8, 1}, {9, 3}, {16, 2}, {6, 6}, {21, 7}, {300, 1}}) {
    CAPTURE(heads);
    CAPTURE(kv_heads);
    check_both(random_problem({heads, kv_heads, 6, 5}, {0, 7, 10}, {0, 7, 15}, {.padding = 2}));
  }
}

TEST_CASE("segments that end at, before and behind the edges of key tiles and query tiles") {
  for (const std::int32_t length : {255, 256, 257, 513}) {
    static_assert(kTileKeys == 256);
    CAPTURE(length);
    check_blockwise(random_problem({1, 1, 3, 2}, {0, length}, {0, length}));
    check_blockwise(random_problem({1, 1, 3, 2}, {0, 3}, {0, length}));  // few queries at the end
    check_blockwise(random_problem({1, 1, 3, 2}, {0, length}, {0, 3}));  // most queries see nothing
  }
  for (const std::int32_t length : {63, 64, 65, 129}) {  // 4 heads a group: 64 tokens a query tile
    static_assert(kTileRows == 256);
    CAPTURE(length);
    check_both(random_problem({4, 1, 3, 2}, {0, length}, {0, length}));
    check_blockwise(random_problem({4, 1, 3, 2}, {0, length}, {0, length + 200}));
  }
}

TEST_CASE("random packs with padding, both kernels, all dtypes, with and without a gradient of LSE") {
  std::uint64_t seed = 100;
  for (const DType dtype : kDTypes) {
    for (const bool d_lse : {false, true}) {
      for (const auto& lengths :
           std::vector<std::vector<std::int32_t>>{{40, 1, 23, 0, 7}, {96}, {1, 1, 1, 70}}) {
        CAPTURE(seed);
        const Offsets cu = offsets_of(lengths);
        check_both(random_problem({4, 2, 16, 16}, cu, cu,
                                  {.dtype = dtype, .padding = 5, .d_lse = d_lse, .seed = seed++}));
      }
    }
  }
}

TEST_CASE("strided views: tensors laid out [head, token, dim] and every second element of dim") {
  const Problem problem = random_problem({4, 2, 6, 6}, {0, 5, 17}, {0, 5, 17});
  const auto kernel = blockwise_kernel();
  const Outcome plain = run(*kernel, problem);
  const auto strided = [](const tensor::Shape& shape) {
    using tensor::Axis;
    const std::int64_t dim = 2 * shape.size(Axis::dim), tokens = shape.size(Axis::token);
    return tensor::BasicView<std::byte>::Strides{dim, tokens * dim, 2, 0};
  };
  const auto room = [](const tensor::Shape& shape) {
    return std::vector<float>(static_cast<std::size_t>(2 * shape.numel()));
  };
  const auto view_of = [&](std::vector<float>& values, const tensor::Shape& shape) {
    return tensor::View(reinterpret_cast<std::byte*>(values.data()), DType::fp32, shape, strided(shape));
  };
  auto q = room(problem.q.shape()), k = room(problem.k.shape()), v = room(problem.v.shape());
  auto d_out = room(problem.d_out.shape()), out = d_out, d_q = q, d_k = k, d_v = v;
  tensor::convert(problem.q.view(), view_of(q, problem.q.shape()));
  tensor::convert(problem.k.view(), view_of(k, problem.k.shape()));
  tensor::convert(problem.v.view(), view_of(v, problem.v.shape()));
  tensor::convert(problem.d_out.view(), view_of(d_out, problem.d_out.shape()));
  kernel::VarlenProblem varlen = problem.varlen();
  varlen.q = view_of(q, problem.q.shape());
  varlen.k = view_of(k, problem.k.shape());
  varlen.v = view_of(v, problem.v.shape());
  Outcome got = run(*kernel, problem);  // for the contiguous lse
  const tensor::View out_view = view_of(out, plain.out.shape());
  kernel->forward(varlen, {out_view, got.lse.view()});
  kernel->backward(
      varlen, {out_view, got.lse.view(), view_of(d_out, problem.d_out.shape()), problem.d_lse.view()},
      {view_of(d_q, plain.d_q.shape()), view_of(d_k, plain.d_k.shape()), view_of(d_v, plain.d_v.shape())});
  const auto same = [&](const tensor::Tensor& expected, std::vector<float>& values) {
    tensor::Tensor packed(DType::fp32, expected.shape());
    tensor::convert(view_of(values, expected.shape()), packed.view());
    return different_rows("strided", expected, 0, packed, 0, 17);
  };
  CHECK(same(plain.out, out) == "");
  CHECK(same(plain.d_q, d_q) == "");
  CHECK(same(plain.d_k, d_k) == "");
  CHECK(same(plain.d_v, d_v) == "");
}

}  // namespace
}  // namespace straddle::cpu::test
