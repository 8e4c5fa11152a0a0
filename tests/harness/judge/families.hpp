// Inputs that are hard on rounding: what a bound has to let pass on correct code.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "problem.hpp"

namespace straddle::harness::test {

struct Family {
  std::string name;
  Case point;  // fp32; tests set other dtypes
  Value value;
};

// Standard normal, a function of the element alone: splitmix64 of its place, then Box and Muller.
inline double normal_at(const std::string& name, std::int64_t token, std::int64_t head, std::int64_t dim) {
  const auto mix = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  };
  std::uint64_t seed = 0x9e3779b97f4a7c15ULL;
  for (const char letter : name) seed = mix(seed + static_cast<std::uint64_t>(letter));
  for (const std::int64_t part : {token, head, dim}) seed = mix(seed + static_cast<std::uint64_t>(part) + 1);
  const double a = (static_cast<double>(mix(seed + 1) >> 11) + 0.5) * 0x1p-53;
  const double b = static_cast<double>(mix(seed + 2) >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
}

// Normal values, those of tensor `name` replaced by change(normal value, token, head, dim).
using Change = std::function<double(double, std::int64_t, std::int64_t, std::int64_t)>;
inline Value normal_but(const std::map<std::string, Change>& changes) {
  return [changes](const std::string& name, std::int64_t token, std::int64_t head, std::int64_t dim) {
    const double value = normal_at(name, token, head, dim);
    const auto change = changes.find(name);
    return change == changes.end() ? value : change->second(value, token, head, dim);
  };
}

inline Change times(double factor) {
  return [factor](double value, auto...) { return factor * value; };
}
inline Change plus(double mean) {
  return [mean](double value, auto...) { return mean + value; };
}
// Every token holds token 0's row.
inline Change same_for_all_tokens(const std::string& name) {
  return [name](double, std::int64_t, std::int64_t head, std::int64_t dim) {
    return normal_at(name, 0, head, dim);
  };
}
// A part common to all tokens, `size` times a normal row.
inline Change with_common_part(const std::string& name, double size) {
  return [name, size](double value, std::int64_t, std::int64_t head, std::int64_t dim) {
    return value + size * normal_at("common " + name, 0, head, dim);
  };
}

inline std::vector<Family> families() {
  const Size d64{.heads = 2, .kv_heads = 1, .head_dim = 64, .v_head_dim = 64};
  std::vector<Family> all;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& lengths,
                       const std::map<std::string, Change>& changes) -> Case& {
    all.push_back({name, make_case(lengths, 0, 1, DType::fp32, d64), normal_but(changes)});
    return all.back().point;
  };
  for (const std::int64_t n : {1, 2, 3, 17, 256, 300}) add("normal n=" + std::to_string(n), {n}, {});
  add("several documents", {1, 65, 2, 1, 130}, {});
  add("D=256", {150}, {}).head_dim = 256;
  add("D=16", {300}, {}).head_dim = 16;
  add("Dv=1", {200}, {}).v_head_dim = 1;
  add("identical keys", {200}, {{"k", same_for_all_tokens("k")}});
  add("identical values", {200}, {{"v", same_for_all_tokens("v")}});
  add("K=0", {300}, {{"k", times(0)}}).inputs.kind = InputKind::k_zero;
  add("V=1", {300}, {{"v", [](auto...) { return 1.0; }}}).inputs.kind = InputKind::v_one;
  for (const double s : {2.0, 4.0, 8.0}) {
    add("logit std " + std::to_string(s * s), {256}, {{"q", times(s)}, {"k", times(s)}});
  }
  add("q, k times 40", {100}, {{"q", times(40)}, {"k", times(40)}});
  add("2 tokens, large logits", {2}, {{"q", times(4)}, {"k", times(4)}});
  add("V mean 30", {256}, {{"v", plus(30)}});
  add("dO mean 30", {256}, {{"d_out", plus(30)}});
  add("V and dO mean 30", {256}, {{"v", plus(30)}, {"d_out", plus(30)}});
  add("K common 100", {256}, {{"k", with_common_part("k", 100)}});
  add("K common 1000", {256}, {{"k", with_common_part("k", 1000)}});
  add("sink heads", {300},
      {{"q", [](double q, auto, auto, std::int64_t d) { return d == 0 ? 0 : q; }},
       {"k", [](double k, std::int64_t t, auto, auto) { return t % 2 == 0 ? 30 * k : k; }}});
  add("ramp of logits", {300},
      {{"q", [](auto...) { return 0.125; }},
       {"k", [](double, std::int64_t t, auto, auto) { return -60 + 120 * static_cast<double>(t) / 299; }}});
  add("tiny dO", {200}, {{"d_out", times(1e-30)}});
  add("all tiny", {100},
      {{"q", times(1e-20)}, {"k", times(1e-20)}, {"v", times(1e-20)}, {"d_out", times(1e-20)}});
  add("one large dO", {100},
      {{"d_out", [](double g, std::int64_t t, auto, auto) { return t == 50 ? 1000 * g : g; }}});
  add("dO of few rows", {200},
      {{"d_out", [](double g, std::int64_t t, auto, auto) { return t % 40 == 7 ? g : 0; }}});
  add("V of mixed size", {200},
      {{"v", [](double v, std::int64_t t, auto, auto) { return v * std::pow(2.0, t % 20 - 10); }}});
  const auto constant = [](double value) { return Change([value](auto...) { return value; }); };
  for (const std::int64_t n : {2, 3, 5, 100, 400}) {  // no rounding error is averaged out
    for (const double k : {0.0, 1.2578125}) {
      if (n == 400 && k != 0) continue;
      add("everything equal n=" + std::to_string(n) + " k=" + std::to_string(k), {n},
          {{"q", constant(0.7578125)},
           {"k", constant(k)},
           {"v", constant(1.0078125)},
           {"d_out", constant(1.5078125)}});
    }
  }
  add("gradient of LSE", {150, 3}, {}).inputs.d_lse = true;
  add("large gradient of LSE", {150}, {{"d_lse", plus(100)}}).inputs.d_lse = true;
  return all;
}

}  // namespace straddle::harness::test
