// Gradients against central differences of the loss sum(out o d_out) + sum(lse o d_lse).
#include <doctest/doctest.h>

#include <cmath>

#include "case.hpp"

namespace straddle::reference {
namespace {

double loss(const Case& c) {
  const Tensors results = attend_all<double>(c);
  double sum = 0;
  for (std::size_t x = 0; x < results.out.size(); ++x) sum += results.out[x] * c.d_out[x];
  for (std::size_t x = 0; x < c.d_lse.size(); ++x) {
    if (std::isfinite(results.lse[x])) sum += results.lse[x] * c.d_lse[x];  // -inf on padding, a constant
  }
  return sum;
}

// (loss(x + h) - loss(x - h)) / 2h for each element of one input: off by h^2 / 6 third derivatives and by
// rounding / h.
void check_gradient(Case c, Values Case::*input, const Values& gradient) {
  const double h = 1e-5;
  for (std::size_t x = 0; x < gradient.size(); ++x) {
    const double value = (c.*input)[x];
    (c.*input)[x] = value + h;
    const double above = loss(c);
    (c.*input)[x] = value - h;
    const double below = loss(c);
    (c.*input)[x] = value;
    CAPTURE(x);
    REQUIRE(std::abs((above - below) / (2 * h) - gradient[x]) < 1e-8);
  }
}

void check_gradients(const Case& c) {
  const Tensors got = attend_all<double>(c);
  check_gradient(c, &Case::q, got.d_q);
  check_gradient(c, &Case::k, got.d_k);
  check_gradient(c, &Case::v, got.d_v);
}

TEST_CASE("gradients are central differences: groups of heads, Dv != D, padding, with and without d_lse") {
  Case c = random_case(
      {.tokens = 11, .heads = 4, .kv_heads = 2, .head_dim = 3, .v_head_dim = 2, .softmax_scale = 0.6},
      end_to_end({5, 1, 3}), 21);
  check_gradients(c);
  c.d_lse.clear();
  check_gradients(c);
}

TEST_CASE("gradients are central differences: one kv head, Dv > D, a gap, a negative scale") {
  check_gradients(random_case(
      {.tokens = 9, .heads = 3, .kv_heads = 1, .head_dim = 2, .v_head_dim = 5, .softmax_scale = -0.9},
      {{1, 2}, {4, 4}}, 22));
}

}  // namespace
}  // namespace straddle::reference
