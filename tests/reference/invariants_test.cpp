// I1 to I6 of docs/math.md, per document and kv head (I8, I9: leak_test.cpp; I16: attention_test.cpp).
#include <doctest/doctest.h>

#include <cmath>

#include "case.hpp"

namespace straddle::reference {
namespace {

Case several_documents() {
  return random_case(
      {.tokens = 200, .heads = 4, .kv_heads = 2, .head_dim = 8, .v_head_dim = 4, .softmax_scale = 0.35},
      end_to_end({1, 2, 63, 64, 66}), 41);
}

// Calls check(document, kv_head) for each.
template <class Check>
void for_each_unit(const Case& c, const Check& check) {
  for (const Document& document : c.documents) {
    for (std::int64_t kv_head = 0; kv_head < c.shape.kv_heads; ++kv_head) {
      CAPTURE(document.start);
      CAPTURE(kv_head);
      check(document, kv_head);
    }
  }
}

// sum over the document's rows and heads [first, last) of a o b at dim d; b may be empty (1).
double sum(const Document& document, std::int64_t heads, std::int64_t first, std::int64_t last,
           std::int64_t dim, std::int64_t d, const Values& a, const Values& b = {}) {
  double total = 0;
  for (std::int64_t row = document.start; row < document.start + document.length; ++row) {
    for (std::int64_t head = first; head < last; ++head) {
      const auto at = static_cast<std::size_t>((row * heads + head) * dim + d);
      total += a[at] * (b.empty() ? 1 : b[at]);
    }
  }
  return total;
}

double sum_all(const Document& document, std::int64_t heads, std::int64_t first, std::int64_t last,
               std::int64_t dim, const Values& a, const Values& b) {
  double total = 0;
  for (std::int64_t d = 0; d < dim; ++d) total += sum(document, heads, first, last, dim, d, a, b);
  return total;
}

constexpr double kTolerance = 1e-11;  // sums of up to a thousand terms of order 10

TEST_CASE("I1: V = 1 gives out = 1 on real rows") {
  Case c = several_documents();
  std::ranges::fill(c.v, 1);
  const Tensors got = attend_all<double>(c);
  for (std::size_t x = 0; x < got.out.size(); ++x) {
    CHECK(std::abs(got.out[x] - (c.real(static_cast<std::int64_t>(x) / 16) ? 1 : 0)) < 1e-14);
  }
}

TEST_CASE("I2: d_k of a document sums to sc sum d_lse_i q_i;  I3: d_v sums to the sum of d_out") {
  const Case c = several_documents();
  const Tensors got = attend_all<double>(c);
  for_each_unit(c, [&](const Document& document, std::int64_t kv_head) {
    for (std::int64_t d = 0; d < 8; ++d) {
      double want = 0;
      for (std::int64_t row = document.start; row < document.start + document.length; ++row) {
        for (std::int64_t head = 2 * kv_head; head < 2 * kv_head + 2; ++head) {
          const auto at = static_cast<std::size_t>(row * 4 + head);
          want += c.shape.softmax_scale * c.d_lse[at] * c.q[at * 8 + static_cast<std::size_t>(d)];
        }
      }
      CHECK(std::abs(sum(document, 2, kv_head, kv_head + 1, 8, d, got.d_k) - want) < kTolerance);
    }
    for (std::int64_t d = 0; d < 4; ++d) {
      CHECK(std::abs(sum(document, 2, kv_head, kv_head + 1, 4, d, got.d_v) -
                     sum(document, 4, 2 * kv_head, 2 * kv_head + 2, 4, d, c.d_out)) < kTolerance);
    }
  });
}

TEST_CASE("I4: sum <q, d_q> = sum <k, d_k>;  I5: sum <v, d_v> = sum <out, d_out>") {
  const Case c = several_documents();
  const Tensors got = attend_all<double>(c);
  for_each_unit(c, [&](const Document& document, std::int64_t kv_head) {
    CHECK(std::abs(sum_all(document, 4, 2 * kv_head, 2 * kv_head + 2, 8, c.q, got.d_q) -
                   sum_all(document, 2, kv_head, kv_head + 1, 8, c.k, got.d_k)) < kTolerance);
    CHECK(std::abs(sum_all(document, 2, kv_head, kv_head + 1, 4, c.v, got.d_v) -
                   sum_all(document, 4, 2 * kv_head, 2 * kv_head + 2, 4, got.out, c.d_out)) < kTolerance);
  });
}

TEST_CASE("I6: the first row of a document has out = v and, without d_lse, d_q = 0, exactly") {
  Case c = several_documents();
  c.d_lse.clear();
  const Tensors got = attend_all<double>(c);
  for (const Document& document : c.documents) {
    for (std::int64_t head = 0; head < 4; ++head) {
      const auto row = static_cast<std::size_t>(document.start * 4 + head);
      for (std::size_t d = 0; d < 4; ++d) {
        CHECK(got.out[row * 4 + d] == c.v[static_cast<std::size_t>(document.start * 2 + head / 2) * 4 + d]);
      }
      for (std::size_t d = 0; d < 8; ++d) CHECK(got.d_q[row * 8 + d] == 0);
    }
  }
}

}  // namespace
}  // namespace straddle::reference
