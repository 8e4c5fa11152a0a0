// The float oracle against the double one, within the bounds of docs/math.md, on inputs that break weaker
// bounds.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>

#include "bounds.hpp"
#include "definition.hpp"

namespace straddle::reference {
namespace {

void round_to_float(Case& c) {
  for (Values* input : {&c.q, &c.k, &c.v, &c.d_out, &c.d_lse}) {
    for (double& x : *input) x = static_cast<float>(x);
  }
}

// One document of one head; d_lse = 0.
Case one_document(std::int64_t length, std::int64_t dim, std::uint64_t seed = 51) {
  Case c = random_case({.tokens = length,
                        .head_dim = dim,
                        .v_head_dim = dim,
                        .softmax_scale = 1 / std::sqrt(static_cast<double>(dim))},
                       {{0, length}}, seed);
  c.d_lse.clear();
  return c;
}

void scale(Values& values, double factor) {
  for (double& x : values) x *= factor;
}

// Adds one random vector, `deviation` large, to every row.
void add_common(Values& values, std::int64_t dim, double deviation) {
  std::mt19937_64 random(52);
  const Values common = normal(static_cast<std::size_t>(dim), random, 0, deviation);
  for (std::size_t x = 0; x < values.size(); ++x) values[x] += common[x % common.size()];
}

// The same row everywhere.
void repeat_first_row(Values& values, std::size_t dim) {
  for (std::size_t x = dim; x < values.size(); ++x) values[x] = values[x % dim];
}

struct Family {
  std::string name;
  Case inputs;
};

std::vector<Family> hostile_families() {
  std::vector<Family> families;
  const auto add = [&](const std::string& name, Case c, const std::function<void(Case&)>& change = {}) {
    if (change) change(c);
    round_to_float(c);
    families.push_back({name, std::move(c)});
  };
  for (const std::int64_t length : {1, 2, 3, 17, 256, 300, 512}) {
    add("normal " + std::to_string(length), one_document(length, 64));
  }
  add("D = 256", one_document(300, 256));
  add("D = 16", one_document(300, 16));
  add("identical keys", one_document(200, 64), [](Case& c) { repeat_first_row(c.k, 64); });
  add("identical values", one_document(200, 64), [](Case& c) { repeat_first_row(c.v, 64); });
  add("K = 0", one_document(300, 64), [](Case& c) { scale(c.k, 0); });
  for (const double s : {2.0, 4.0, 8.0}) {  // logits of standard deviation s^2
    add("logits " + std::to_string(s * s), one_document(300, 64),
        [&](Case& c) { scale(c.q, s), scale(c.k, s); });
  }
  add("2 tokens, logits 16", one_document(2, 64), [](Case& c) { scale(c.q, 4), scale(c.k, 4); });
  const auto shift = [](Values& values, double mean) {
    for (double& x : values) x += mean;
  };
  add("V mean 30", one_document(300, 64), [&](Case& c) { shift(c.v, 30); });
  add("dO mean 30", one_document(300, 64), [&](Case& c) { shift(c.d_out, 30); });
  add("K common 100", one_document(300, 64), [](Case& c) { add_common(c.k, 64, 100); });
  add("K common 1000", one_document(300, 64), [](Case& c) { add_common(c.k, 64, 1000); });
  add("every second key 30 times as long", one_document(300, 64), [](Case& c) {
    for (std::size_t x = 0; x < c.k.size(); ++x) c.k[x] *= x / 64 % 2 == 0 ? 30 : 1;
  });
  add("logits on a ramp from -60 to 60", one_document(300, 64), [](Case& c) {
    std::ranges::fill(c.q, 0.125);
    for (std::size_t x = 0; x < c.k.size(); ++x) c.k[x] = -60 + 120 * static_cast<double>(x / 64) / 299;
  });
  add("dO 1e-30", one_document(300, 64), [](Case& c) { scale(c.d_out, 1e-30); });
  add("all 1e-20", one_document(100, 64), [](Case& c) {
    for (Values* input : {&c.q, &c.k, &c.v, &c.d_out}) scale(*input, 1e-20);
  });
  add("packed, groups, Dv != D, d_lse",
      random_case(
          {.tokens = 200, .heads = 4, .kv_heads = 2, .head_dim = 32, .v_head_dim = 24, .softmax_scale = 0.2},
          end_to_end({1, 2, 130, 3, 60}), 53));
  return families;
}

TEST_CASE("the float oracle stays within the bounds of the double one, on every hostile family") {
  for (const Family& family : hostile_families()) {
    CAPTURE(family.name);
    const Case& c = family.inputs;
    const Tensors want = attend_all<double>(c), got = attend_all<float>(c);
    CHECK(worst_use(c, got, want, condition_of<double>(c), kFloat) <= 1);
  }
}

TEST_CASE("the double oracle stays within the bounds of the definition in long double") {
  for (const Family& family : hostile_families()) {
    if (family.inputs.shape.tokens > 200) continue;
    CAPTURE(family.name);
    const Definition want(family.inputs);
    CHECK(worst_use(family.inputs, attend_all<double>(family.inputs), want.results, want.scales, kDouble) <=
          1);
  }
}

TEST_CASE("no family overflows: every result and every scale is finite") {
  for (const Family& family : hostile_families()) {
    CAPTURE(family.name);
    const Tensors got = attend_all<float>(family.inputs);
    const Scales scales = condition_of<double>(family.inputs);
    const auto all_finite = [](const Values& values) {
      return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
    };
    for (Values Tensors::*t : {&Tensors::out, &Tensors::d_q, &Tensors::d_k, &Tensors::d_v}) {
      CHECK(all_finite(got.*t));
      if (family.inputs.documents.size() > 1) continue;  // has padding rows, which have no scales
      CHECK(all_finite(scales.sigma.*t));
      CHECK(all_finite(scales.tau.*t));
    }
  }
}

TEST_CASE("an element off by 4 times its bound is over it, in every tensor") {
  const Case c = one_document(70, 8);
  const Tensors want = attend_all<double>(c);
  const Scales scales = condition_of<double>(c);
  const double uf = kFloat.u * (1 + scales.largest_logit[0] / 8);
  for (Values Tensors::*t : {&Tensors::out, &Tensors::d_q, &Tensors::d_k, &Tensors::d_v}) {
    Tensors got = want;
    CHECK(worst_use(c, got, want, scales, kFloat) == 0);
    (got.*t)[100] += 4 * 128 * uf * (scales.sigma.*t)[100];
    CHECK(worst_use(c, got, want, scales, kFloat) > 3);
    (got.*t)[100] = kNaN;
    CHECK(worst_use(c, got, want, scales, kFloat) == kInfinity);
  }
}

}  // namespace
}  // namespace straddle::reference
