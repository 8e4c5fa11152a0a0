#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <vector>

#include "kernel/kernel.hpp"
#include "tensor/tensor.hpp"

namespace straddle::kernel {
namespace {

using tensor::Axis;
using tensor::DType;
using tensor::Tensor;
using tensor::token_major;

// A problem that keeps every rule, with another size on every axis: 7 query rows, 9 key rows, heads 6 over 2,
// head_dim 4, v_head_dim 5.
struct Everything {
  Tensor q{DType::bf16, token_major(7, 6, 4)};
  Tensor k{DType::bf16, token_major(9, 2, 4)};
  Tensor v{DType::bf16, token_major(9, 2, 5)};
  Tensor out{DType::bf16, token_major(7, 6, 5)};
  Tensor lse{DType::fp32, token_major(7, 6)};
  Tensor d_out{DType::bf16, token_major(7, 6, 5)};
  Tensor d_lse{DType::fp32, token_major(7, 6)};
  Tensor d_q{DType::bf16, token_major(7, 6, 4)};
  Tensor d_k{DType::fp32, token_major(9, 2, 4)};
  Tensor d_v{DType::fp32, token_major(9, 2, 5)};
  std::vector<std::int32_t> cu_seqlens_q{0, 2, 2, 6};
  std::vector<std::int32_t> cu_seqlens_k{0, 3, 4, 8};
  std::int64_t max_seqlen_q = 4;
  std::int64_t max_seqlen_k = 4;
  double softmax_scale = 0.5;

  void validate_all() {
    const VarlenProblem problem{q.view(),     k.view(),     v.view(),     cu_seqlens_q,
                                cu_seqlens_k, max_seqlen_q, max_seqlen_k, softmax_scale};
    validate(problem);
    validate(problem, ForwardResults{out.view(), lse.view()});
    validate(problem, BackwardInputs{out.view(), lse.view(), d_out.view(), d_lse.view()},
             BackwardResults{d_q.view(), d_k.view(), d_v.view()});
  }
};

struct Broken {
  std::function<void(Everything&)> change;
  const char* message;
};

void check_messages(const std::vector<Broken>& all) {
  for (const Broken& broken : all) {
    Everything everything;
    broken.change(everything);
    CAPTURE(broken.message);
    CHECK_THROWS_WITH_AS(everything.validate_all(), broken.message, std::invalid_argument);
  }
}

TEST_CASE("validate accepts a problem with rows of no segment, empty segments, and more keys than queries") {
  Everything everything;
  CHECK_NOTHROW(everything.validate_all());
}

TEST_CASE("validate accepts a problem without segments and one without rows") {
  Everything everything;
  everything.cu_seqlens_q = everything.cu_seqlens_k = {0};
  everything.max_seqlen_q = everything.max_seqlen_k = 0;
  CHECK_NOTHROW(everything.validate_all());

  const Tensor q(DType::fp64, token_major(0, 2, 4)), k(DType::fp64, token_major(0, 1, 4));
  CHECK_NOTHROW(validate(VarlenProblem{q.view(), k.view(), k.view(), everything.cu_seqlens_q,
                                       everything.cu_seqlens_k, 0, 0, 1.0}));
}

TEST_CASE("validate names what is wrong with q, k and v") {
  check_messages({
      {[](Everything& e) { e.q = Tensor(DType::bf16, token_major(7, 6)); },
       "q: its axes must be [token, head, dim], but its shape is [token 7, head 6]"},
      {[](Everything& e) {
         e.k = Tensor(DType::bf16, {{Axis::head, 2}, {Axis::token, 9}, {Axis::dim, 4}});
       },
       "k: its axes must be [token, head, dim], but its shape is [head 2, token 9, dim 4]"},
      {[](Everything& e) { e.q = Tensor(DType::i32, token_major(7, 6, 4)); },
       "q: must be fp64, fp32, bf16 or fp16, but is i32"},
      {[](Everything& e) { e.k = Tensor(DType::fp16, token_major(9, 2, 4)); },
       "k: must be bf16, as q is, but is fp16"},
      {[](Everything& e) { e.v = Tensor(DType::fp32, token_major(9, 2, 5)); },
       "v: must be bf16, as q is, but is fp32"},
      {[](Everything& e) { e.q = Tensor(DType::bf16, token_major(7, 0, 4)); },
       "q: axis head must not be empty"},
      {[](Everything& e) { e.q = Tensor(DType::bf16, token_major(7, 6, 0)); },
       "q: axis dim must not be empty"},
      {[](Everything& e) { e.k = Tensor(DType::bf16, token_major(9, 0, 4)); },
       "k: axis head must not be empty"},
      {[](Everything& e) { e.v = Tensor(DType::bf16, token_major(9, 2, 0)); },
       "v: axis dim must not be empty"},
      {[](Everything& e) { e.k = Tensor(DType::bf16, token_major(9, 2, 3)); },
       "k: axis dim must have 4 entries, as q has, but has 3"},
      {[](Everything& e) { e.v = Tensor(DType::bf16, token_major(8, 2, 5)); },
       "v: axis token must have 9 entries, as k has, but has 8"},
      {[](Everything& e) { e.v = Tensor(DType::bf16, token_major(9, 3, 5)); },
       "v: axis head must have 2 entries, as k has, but has 3"},
      {[](Everything& e) { e.q = Tensor(DType::bf16, token_major(7, 5, 4)); },
       "q: axis head has 5 entries, which is no multiple of the 2 heads of k"},
      {[](Everything& e) { e.softmax_scale = std::numeric_limits<double>::infinity(); },
       "softmax_scale: must be finite, but is inf"},
  });
}

TEST_CASE("validate refuses a view without data unless it has no elements") {
  Everything e;
  const tensor::ConstView nothing(nullptr, DType::bf16, token_major(7, 6, 4));
  CHECK_THROWS_WITH_AS(
      validate(VarlenProblem{nothing, e.k.view(), e.v.view(), e.cu_seqlens_q, e.cu_seqlens_k, 4, 4, 0.5}),
      "q: has shape [token 7, head 6, dim 4] but no data (null)", std::invalid_argument);
}

TEST_CASE("validate names the entry of cu_seqlens that breaks a rule") {
  check_messages({
      {[](Everything& e) { e.cu_seqlens_q.clear(); }, "cu_seqlens_q: must hold at least one entry, a 0"},
      {[](Everything& e) { e.cu_seqlens_k[0] = 1; }, "cu_seqlens_k[0]: must be 0, but is 1"},
      {[](Everything& e) { e.cu_seqlens_q[2] = 1; },
       "cu_seqlens_q[2]: must not be below cu_seqlens_q[1] = 2, but is 1"},
      {[](Everything& e) { e.cu_seqlens_q[3] = 8; },
       "cu_seqlens_q[3]: must not be above the 7 tokens of q, but is 8"},
      {[](Everything& e) { e.cu_seqlens_k[3] = 10; },
       "cu_seqlens_k[3]: must not be above the 9 tokens of k, but is 10"},
      {[](Everything& e) { e.cu_seqlens_k.pop_back(); },
       "cu_seqlens_k: must hold 4 entries, as cu_seqlens_q does, but holds 3"},
      {[](Everything& e) { e.max_seqlen_q = 5; },
       "max_seqlen_q: must be 4, the length of segment 2, but is 5"},
      {[](Everything& e) { e.max_seqlen_k = 3; },
       "max_seqlen_k: must be 4, the length of segment 2, but is 3"},
  });
}

TEST_CASE("validate names the result or gradient that does not fit") {
  check_messages({
      {[](Everything& e) { e.out = Tensor(DType::bf16, token_major(7, 6, 4)); },
       "out: axis dim must have 5 entries, as v has, but has 4"},
      {[](Everything& e) { e.out = Tensor(DType::fp32, token_major(7, 6, 5)); },
       "out: must be bf16, as q is, but is fp32"},
      {[](Everything& e) { e.lse = Tensor(DType::bf16, token_major(7, 6)); },
       "lse: must be fp32, what q's dtype accumulates in, but is bf16"},
      {[](Everything& e) { e.lse = Tensor(DType::fp32, token_major(7, 2)); },
       "lse: axis head must have 6 entries, as q has, but has 2"},
      {[](Everything& e) { e.lse = Tensor(DType::fp32, token_major(7, 6, 1)); },
       "lse: its axes must be [token, head], but its shape is [token 7, head 6, dim 1]"},
      {[](Everything& e) { e.d_out = Tensor(DType::bf16, token_major(6, 6, 5)); },
       "d_out: axis token must have 7 entries, as q has, but has 6"},
      {[](Everything& e) { e.d_lse = Tensor(DType::fp64, token_major(7, 6)); },
       "d_lse: must be fp32, what q's dtype accumulates in, but is fp64"},
      {[](Everything& e) { e.d_q = Tensor(DType::bf16, token_major(7, 6, 5)); },
       "d_q: axis dim must have 4 entries, as q has, but has 5"},
      {[](Everything& e) { e.d_q = Tensor(DType::fp32, token_major(7, 6, 4)); },
       "d_q: must be bf16, as q is, but is fp32"},
      {[](Everything& e) { e.d_k = Tensor(DType::bf16, token_major(9, 2, 4)); },
       "d_k: must be fp32, what q's dtype accumulates in, but is bf16"},
      {[](Everything& e) { e.d_k = Tensor(DType::fp32, token_major(9, 6, 4)); },
       "d_k: axis head must have 2 entries, as k has, but has 6"},
      {[](Everything& e) { e.d_k = Tensor(DType::fp32, token_major(7, 2, 4)); },
       "d_k: axis token must have 9 entries, as k has, but has 7"},
      {[](Everything& e) { e.d_v = Tensor(DType::fp32, token_major(9, 2, 4)); },
       "d_v: axis dim must have 5 entries, as v has, but has 4"},
  });
}

}  // namespace
}  // namespace straddle::kernel
