// What a row's results must not depend on: later tokens, and for d_k and d_v earlier queries (I8, I9).
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "case.hpp"

namespace straddle::reference {
namespace {

constexpr std::int64_t kTokens = 140;
const Shape kShape{
    .tokens = kTokens, .heads = 4, .kv_heads = 2, .head_dim = 3, .v_head_dim = 2, .softmax_scale = 0.7};

Case two_documents() { return random_case(kShape, end_to_end({135, 3}), 31); }

void set_row(Values& tensor, std::int64_t row, double value) {
  const auto width = static_cast<std::int64_t>(tensor.size()) / kTokens;
  std::fill_n(tensor.begin() + row * width, width, value);
}

// Rows [begin, end) hold the same bits.
bool same_rows(const Values& a, const Values& b, std::int64_t begin, std::int64_t end) {
  const auto width = static_cast<std::int64_t>(a.size()) / kTokens;
  return std::equal(
      a.begin() + begin * width, a.begin() + end * width, b.begin() + begin * width,
      [](double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); });
}

bool finite_rows(const Values& a, std::int64_t begin, std::int64_t end) {
  const auto width = static_cast<std::int64_t>(a.size()) / kTokens;
  return std::all_of(a.begin() + begin * width, a.begin() + end * width,
                     [](double x) { return std::isfinite(x); });
}

const std::vector<std::int64_t> kRows{0, 1, 31, 63, 64, 65, 100, 128, 134};  // of the first document

TEST_CASE(
    "a changed token, NaN too, leaves earlier rows and the other document alone, and does change its own") {
  const Case clean = two_documents();
  const Tensors want = attend_all<double>(clean);
  for (const double value : {kNaN, 2.5}) {
    for (const std::int64_t t : kRows) {
      Case c = clean;
      for (Values* input : {&c.q, &c.k, &c.v, &c.d_out, &c.d_lse}) set_row(*input, t, value);
      const Tensors got = attend_all<double>(c);
      CAPTURE(value);
      CAPTURE(t);
      for (Values Tensors::*tensor : {&Tensors::out, &Tensors::lse, &Tensors::d_q}) {
        CHECK(same_rows(got.*tensor, want.*tensor, 0, t));
        CHECK_FALSE(same_rows(got.*tensor, want.*tensor, t, t + 1));
      }
      for (Values Tensors::*tensor :
           {&Tensors::out, &Tensors::lse, &Tensors::d_q, &Tensors::d_k, &Tensors::d_v}) {
        CHECK(same_rows(got.*tensor, want.*tensor, 135, kTokens));
      }
      if (std::isnan(value)) {
        CHECK_FALSE(finite_rows(got.out, t, t + 1));
        CHECK_FALSE(finite_rows(got.d_k, t, t + 1));
      }
    }
  }
}

TEST_CASE("a NaN in V alone, or K alone, of a later token reaches no earlier row") {
  const Case clean = two_documents();
  const Tensors want = attend_all<double>(clean);
  for (Values Case::*input : {&Case::k, &Case::v}) {
    for (const std::int64_t t : kRows) {
      Case c = clean;
      set_row(c.*input, t, kNaN);
      const Tensors got = attend_all<double>(c);
      CAPTURE(t);
      for (Values Tensors::*tensor : {&Tensors::out, &Tensors::lse, &Tensors::d_q}) {
        CHECK(same_rows(got.*tensor, want.*tensor, 0, t));
      }
      CHECK_FALSE(finite_rows(got.out, t, t + 1));
    }
  }
}

TEST_CASE(
    "a NaN query, d_out or d_lse reaches d_k and d_v of no later key, nor another row's out, lse, d_q") {
  const Case clean = two_documents();
  const Tensors want = attend_all<double>(clean);
  for (Values Case::*input : {&Case::q, &Case::d_out, &Case::d_lse}) {
    for (const std::int64_t t : kRows) {
      Case c = clean;
      set_row(c.*input, t, kNaN);
      const Tensors got = attend_all<double>(c);
      CAPTURE(t);
      for (Values Tensors::*tensor : {&Tensors::d_k, &Tensors::d_v}) {
        CHECK(same_rows(got.*tensor, want.*tensor, t + 1, kTokens));
      }
      for (Values Tensors::*tensor : {&Tensors::out, &Tensors::lse, &Tensors::d_q}) {
        CHECK(same_rows(got.*tensor, want.*tensor, 0, t));
        CHECK(same_rows(got.*tensor, want.*tensor, t + 1, kTokens));
      }
      CHECK_FALSE(finite_rows(got.d_k, t, t + 1));
    }
  }
}

TEST_CASE(
    "the condition leaks as little: sigma and tau of rows that don't see a NaN keep their bits, A skips it") {
  const Case clean = two_documents();
  const Scales want = condition_of<double>(clean);
  for (const std::int64_t t : {1, 64, 100}) {
    Case c = clean;
    for (Values* input : {&c.q, &c.k, &c.v, &c.d_out, &c.d_lse}) set_row(*input, t, kNaN);
    const Scales got = condition_of<double>(c);
    CAPTURE(t);
    for (Tensors Scales::*scale : {&Scales::sigma, &Scales::tau}) {
      for (Values Tensors::*tensor : {&Tensors::out, &Tensors::d_q}) {
        CHECK(same_rows((got.*scale).*tensor, (want.*scale).*tensor, 0, t));
      }
      CHECK_FALSE(finite_rows((got.*scale).d_q, t, t + 1));
      for (Values Tensors::*tensor : {&Tensors::out, &Tensors::d_q, &Tensors::d_k, &Tensors::d_v}) {
        CHECK(same_rows((got.*scale).*tensor, (want.*scale).*tensor, 135, 138));
      }
    }
    CHECK(std::isfinite(got.largest_logit[0]));
  }
  Case c = clean;
  for (Values* input : {&c.q, &c.d_out, &c.d_lse}) set_row(*input, 64, kNaN);
  const Scales got = condition_of<double>(c);
  for (Tensors Scales::*scale : {&Scales::sigma, &Scales::tau}) {
    for (Values Tensors::*tensor : {&Tensors::d_k, &Tensors::d_v}) {
      CHECK(same_rows((got.*scale).*tensor, (want.*scale).*tensor, 65, 138));
    }
  }
}

TEST_CASE("a document's bits don't depend on where it stands") {
  const Case first = random_case(kShape, {{0, 70}}, 32);
  Case moved = random_case(kShape, {{0, 5}, {70, 70}}, 33);
  for (Values Case::*input : {&Case::q, &Case::k, &Case::v, &Case::d_out, &Case::d_lse}) {
    const Values& from = first.*input;
    std::copy_n(from.begin(), from.size() / 2,
                (moved.*input).begin() + static_cast<std::ptrdiff_t>(from.size() / 2));
  }
  const Tensors a = attend_all<double>(first), b = attend_all<double>(moved);
  for (Values Tensors::*tensor :
       {&Tensors::out, &Tensors::lse, &Tensors::d_q, &Tensors::d_k, &Tensors::d_v}) {
    const Values& x = a.*tensor;
    const Values& y = b.*tensor;
    CHECK(std::equal(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2),
                     y.begin() + static_cast<std::ptrdiff_t>(y.size() / 2)));
  }
}

}  // namespace
}  // namespace straddle::reference
