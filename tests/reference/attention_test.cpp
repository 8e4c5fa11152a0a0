#include "reference/attention.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "case.hpp"

namespace straddle::reference {
namespace {

void check_close(const Values& got, const Values& want, double tolerance = 1e-14) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(got[i] - want[i]) <= tolerance);
  }
}

TEST_CASE("one token: out = v, lse = its logit, d_v = the sum of d_out over the group, no other gradient") {
  const Case c{
      .shape = {.tokens = 1, .heads = 2, .kv_heads = 1, .head_dim = 1, .v_head_dim = 2, .softmax_scale = 0.5},
      .documents = {{0, 1}},
      .q = {3, -2},
      .k = {4},
      .v = {7, -5},
      .d_out = {1, 10, 100, 1000},
      .d_lse = {}};
  const Tensors got = attend_all<double>(c);
  CHECK(got.out == Values{7, -5, 7, -5});
  CHECK(got.lse == Values{6, -4});
  CHECK(got.d_q == Values{0, 0});
  CHECK(got.d_k == Values{0});
  CHECK(got.d_v == Values{101, 1010});
}

TEST_CASE("one token with d_lse: the gradient of its logit") {
  const Case c{.shape = {.tokens = 1, .softmax_scale = 0.5},
               .documents = {{0, 1}},
               .q = {3},
               .k = {4},
               .v = {7},
               .d_out = {1},
               .d_lse = {10}};
  const Tensors got = attend_all<double>(c);
  CHECK(got.d_q == Values{0.5 * 4 * 10});
  CHECK(got.d_k == Values{0.5 * 3 * 10});
  CHECK(got.d_v == Values{1});
}

TEST_CASE("two tokens: the closed form of a softmax over two logits") {
  const double sc = 0.7, q0 = 0.4, q1 = -1.3, k0 = 0.9, k1 = -0.6, v0 = 2, v1 = -3, g0 = 0.25, g1 = 1.5,
               l0 = 0.3, l1 = -0.8;
  const Case c{.shape = {.tokens = 2, .softmax_scale = sc},
               .documents = {{0, 2}},
               .q = {q0, q1},
               .k = {k0, k1},
               .v = {v0, v1},
               .d_out = {g0, g1},
               .d_lse = {l0, l1}};
  const double p = 1 / (1 + std::exp(sc * q1 * (k0 - k1)));  // weight of key 1 in row 1
  const double ds1 = p * (1 - p) * (v1 - v0) * g1 + p * l1;
  const double ds0 = -p * (1 - p) * (v1 - v0) * g1 + (1 - p) * l1;
  const Tensors got = attend_all<double>(c);
  check_close(got.out, {v0, (1 - p) * v0 + p * v1});
  check_close(got.lse, {sc * q0 * k0, std::log(std::exp(sc * q1 * k0) + std::exp(sc * q1 * k1))});
  check_close(got.d_q, {sc * l0 * k0, sc * (ds0 * k0 + ds1 * k1)});
  check_close(got.d_k, {sc * (l0 * q0 + ds0 * q1), sc * ds1 * q1});
  check_close(got.d_v, {g0 + (1 - p) * g1, p * g1});
}

TEST_CASE("identical keys: every visible key weighs the same, and no query gradient is left") {
  std::mt19937_64 random(3);
  const std::int64_t length = 150;  // over two edges of the oracle's blocks of rows
  Case c = random_case(
      {.tokens = length, .heads = 2, .kv_heads = 1, .head_dim = 3, .v_head_dim = 2, .softmax_scale = 1},
      {{0, length}}, 3);
  for (std::size_t x = 0; x < c.k.size(); ++x) c.k[x] = x % 3 == 0 ? 1.25 : -0.5;
  c.d_lse.clear();
  const Tensors got = attend_all<double>(c);
  for (std::size_t row = 0; row < static_cast<std::size_t>(length) * 2; ++row) {
    const double logit = 1.25 * c.q[row * 3] - 0.5 * (c.q[row * 3 + 1] + c.q[row * 3 + 2]);
    CHECK(std::abs(got.lse[row] - logit - std::log(static_cast<double>(row / 2 + 1))) < 1e-14);
  }
  check_close(got.d_q, Values(got.d_q.size(), 0));
}

TEST_CASE("K = 0 counts keys: lse = ln t, out = running mean of v (I16), in every document") {
  const std::vector<std::int64_t> lengths{1, 63, 64, 0, 65, 130};
  Case c = random_case(
      {.tokens = 330, .heads = 2, .kv_heads = 1, .head_dim = 2, .v_head_dim = 1, .softmax_scale = 1},
      end_to_end(lengths), 4);
  std::ranges::fill(c.k, 0);
  const Tensors got = attend_all<double>(c);
  for (const auto& [start, length] : c.documents) {
    double sum = 0;
    for (std::int64_t t = 1; t <= length; ++t) {
      const auto row = static_cast<std::size_t>(start + t - 1);
      sum += c.v[row];
      for (const std::size_t at : {2 * row, 2 * row + 1}) {
        CHECK(std::abs(got.lse[at] - std::log(static_cast<double>(t))) < 1e-14);
        CHECK(std::abs(got.out[at] - sum / static_cast<double>(t)) < 1e-14);
      }
    }
  }
}

TEST_CASE("attend writes the rows of its document and group, and nothing else") {
  const Case c = random_case(
      {.tokens = 7, .heads = 4, .kv_heads = 2, .head_dim = 2, .v_head_dim = 3, .softmax_scale = 1},
      end_to_end({2, 3}), 5);
  Tensors got = tensors_of(c.shape, 99);
  Tensors sigma = tensors_of(c.shape, 99), tau = tensors_of(c.shape, 99);
  const Condition condition{sigma.out, sigma.d_q, sigma.d_k, sigma.d_v, tau.out, tau.d_q, tau.d_k, tau.d_v};
  attend<double>(c.shape, c.documents[1], 1, {c.q, c.k, c.v, c.d_out, c.d_lse},
                 {got.out, got.lse, got.d_q, got.d_k, got.d_v}, &condition);
  const auto check = [&](const Values& values, std::int64_t heads, std::int64_t dim) {
    for (std::size_t x = 0; x < values.size(); ++x) {
      const auto row = static_cast<std::int64_t>(x) / (heads * dim),
                 head = static_cast<std::int64_t>(x) / dim % heads;
      CAPTURE(row);
      CAPTURE(head);
      CHECK((values[x] != 99) == (row >= 2 && row < 5 && head >= heads / 2));
    }
  };
  check(got.lse, 4, 1);
  for (const Tensors* t : {&got, &sigma, &tau}) {
    check(t->out, 4, 3);
    check(t->d_q, 4, 2);
    check(t->d_k, 2, 2);
    check(t->d_v, 2, 3);
  }
}

TEST_CASE("rows of no document: out = 0, lse = -inf, gradients 0, whatever the inputs hold there") {
  Case c = random_case(
      {.tokens = 9, .heads = 2, .kv_heads = 1, .head_dim = 2, .v_head_dim = 1, .softmax_scale = 1},
      {{1, 2}, {5, 2}}, 6);
  const Tensors clean = attend_all<double>(c);
  for (Values* input : {&c.q, &c.k, &c.v, &c.d_out, &c.d_lse}) {
    const std::size_t width = input->size() / 9;
    for (std::size_t x = 0; x < input->size(); ++x) {
      if (!c.real(static_cast<std::int64_t>(x / width))) (*input)[x] = x % 2 == 0 ? kNaN : kInfinity;
    }
  }
  const Tensors got = attend_all<double>(c);
  CHECK(got.out == clean.out);
  CHECK(got.lse == clean.lse);
  CHECK(got.d_q == clean.d_q);
  CHECK(got.d_k == clean.d_k);
  CHECK(got.d_v == clean.d_v);
  for (const std::size_t row : {0u, 3u, 4u, 7u, 8u}) {
    for (const std::size_t at : {2 * row, 2 * row + 1}) {
      CHECK(got.out[at] == 0);
      CHECK(got.lse[at] == -kInfinity);
      CHECK(got.d_k[at] == 0);
    }
    for (std::size_t x = 4 * row; x < 4 * row + 4; ++x) CHECK(got.d_q[x] == 0);
    CHECK(got.d_v[row] == 0);
  }
}

TEST_CASE("a pack without documents, and one without rows") {
  Case c = random_case({.tokens = 2}, {{1, 0}, {2, 0}}, 7);
  CHECK(attend_all<double>(c).lse == Values{-kInfinity, -kInfinity});
  c = random_case({.tokens = 0}, {{0, 0}}, 7);
  CHECK(attend_all<double>(c).out.empty());
}

}  // namespace
}  // namespace straddle::reference
