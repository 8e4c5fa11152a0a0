#include "definition.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "bounds.hpp"

namespace straddle::reference {
namespace {

// Equal up to the rounding of sums of a few hundred terms, none negative.
bool nearly(double got, double want) { return std::abs(got - want) <= 1e-13 * want; }

// Results and condition of the double oracle against the definition.
void check_against_definition(const Case& c) {
  const Definition want(c);
  const Tensors got = attend_all<double>(c);
  CHECK(worst_use(c, got, want.results, want.scales, kDouble) <= 1);

  const Scales scales = condition_of<double>(c);
  const auto check_scales = [&](Values Tensors::*t) {
    const std::size_t width = (got.*t).size() / static_cast<std::size_t>(c.shape.tokens);
    for (std::size_t x = 0; x < (got.*t).size(); ++x) {
      if (!c.real(static_cast<std::int64_t>(x / width))) continue;
      REQUIRE(nearly((scales.sigma.*t)[x], (want.scales.sigma.*t)[x]));
      REQUIRE(nearly((scales.tau.*t)[x], (want.scales.tau.*t)[x]));
    }
  };
  check_scales(&Tensors::out);
  check_scales(&Tensors::d_q);
  check_scales(&Tensors::d_k);
  check_scales(&Tensors::d_v);
  for (std::size_t d = 0; d < c.documents.size(); ++d) {
    CHECK(nearly(scales.largest_logit[d], want.scales.largest_logit[d]));
  }
}

TEST_CASE("every pack of up to 6 tokens: all documents, all paddings, results and condition") {
  std::uint64_t seed = 0;
  for (std::int64_t tokens = 1; tokens <= 6; ++tokens) {
    for (std::int64_t real = 0; real <= tokens; ++real) {
      // Bit i of starts: a document starts at row i + 1.
      for (unsigned starts = 0; starts < (real == 0 ? 1u : 1u << (real - 1)); ++starts) {
        std::vector<Document> documents;
        for (std::int64_t row = 0; row < real; ++row) {
          if (row == 0 || (starts >> (row - 1) & 1) != 0) documents.push_back({row, 0});
          ++documents.back().length;
        }
        CAPTURE(tokens);
        CAPTURE(real);
        CAPTURE(starts);
        check_against_definition(random_case({.tokens = tokens,
                                              .heads = 4,
                                              .kv_heads = 2,
                                              .head_dim = 3,
                                              .v_head_dim = 2,
                                              .softmax_scale = 0.8},
                                             documents, ++seed));
      }
    }
  }
}

TEST_CASE("gaps, zero-length documents, head ratios, a negative scale, no d_lse") {
  for (const std::int64_t kv_heads : {1, 2, 3, 6}) {
    for (const double scale : {1.0, -0.6, 0.0}) {
      CAPTURE(kv_heads);
      CAPTURE(scale);
      Case c = random_case({.tokens = 15,
                            .heads = 6,
                            .kv_heads = kv_heads,
                            .head_dim = 4,
                            .v_head_dim = 5,
                            .softmax_scale = scale},
                           {{1, 4}, {5, 0}, {6, 7}, {13, 1}}, 11);
      check_against_definition(c);
      c.d_lse.clear();
      check_against_definition(c);
    }
  }
}

TEST_CASE("documents on either side of the edges of a block of rows") {
  for (const std::int64_t length : {63, 64, 65, 127, 129, 192}) {
    CAPTURE(length);
    check_against_definition(random_case({.tokens = length + 3,
                                          .heads = 2,
                                          .kv_heads = 1,
                                          .head_dim = 8,
                                          .v_head_dim = 5,
                                          .softmax_scale = 0.35},
                                         end_to_end({2, length}), static_cast<std::uint64_t>(length)));
  }
}

TEST_CASE("the float oracle's condition is the double one of the rounded inputs") {
  Case c = random_case(
      {.tokens = 70, .heads = 2, .kv_heads = 1, .head_dim = 4, .v_head_dim = 3, .softmax_scale = 0.5},
      end_to_end({67, 3}), 12);
  for (Values* input : {&c.q, &c.k, &c.v, &c.d_out, &c.d_lse}) {
    for (double& x : *input) x = static_cast<float>(x);
  }
  const Scales of_float = condition_of<float>(c), of_double = condition_of<double>(c);
  CHECK(of_float.largest_logit == of_double.largest_logit);
  for (Values Tensors::*t : {&Tensors::out, &Tensors::d_q, &Tensors::d_k, &Tensors::d_v}) {
    CHECK(of_float.sigma.*t == of_double.sigma.*t);
    CHECK(of_float.tau.*t == of_double.tau.*t);
  }
}

}  // namespace
}  // namespace straddle::reference
