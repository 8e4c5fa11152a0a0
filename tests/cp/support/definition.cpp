// The definition of docs/math.md over global rows: V(i) from the document of each slot, nothing of plans or
// segments.
#include <cmath>
#include <limits>

#include "support/packs.hpp"
#include "support/run.hpp"
#include "support/values.hpp"

namespace straddle::cp::testing {
namespace {

using Values = std::vector<double>;

// [token, head, dim] values with the head count and dim they are indexed by.
struct Grid {
  Values values;
  std::int64_t heads, dim;
  Grid(Values from, std::int64_t head_count, std::int64_t size)
      : values(std::move(from)), heads(head_count), dim(size) {}
  Grid(std::int64_t tokens, std::int64_t head_count, std::int64_t size, double value = 0)
      : values(static_cast<std::size_t>(tokens * head_count * size), value), heads(head_count), dim(size) {}
  double& operator()(std::int64_t t, std::int64_t h, std::int64_t d) {
    return values[static_cast<std::size_t>((t * heads + h) * dim + d)];
  }
};

double dot(Grid& a, std::int64_t i, std::int64_t ha, Grid& b, std::int64_t j, std::int64_t hb) {
  double sum = 0;
  for (std::int64_t d = 0; d < a.dim; ++d) sum += a(i, ha, d) * b(j, hb, d);
  return sum;
}

}  // namespace

Results by_definition(const AttentionConfig& config, const pack::Pack& pack, const Inputs& inputs) {
  const std::int64_t H = config.heads, Hkv = config.kv_heads, D = config.head_dim, Dv = config.v_head_dim;
  const std::int64_t S = pack.slots;
  const auto document = document_of_slots(pack);
  Grid q(values_of(inputs.q.view()), H, D), k(values_of(inputs.k.view()), Hkv, D);
  Grid v(values_of(inputs.v.view()), Hkv, Dv), d_out(values_of(inputs.d_out.view()), H, Dv);
  Grid d_lse(values_of(inputs.d_lse.view()), H, 1);
  Grid out(S, H, Dv), lse(S, H, 1, -std::numeric_limits<double>::infinity());
  Grid d_q(S, H, D), d_k(S, Hkv, D), d_v(S, Hkv, Dv);

  for (std::int64_t i = 0; i < S; ++i) {
    if (document[static_cast<std::size_t>(i)] < 0) continue;
    for (std::int64_t h = 0; h < H; ++h) {
      const std::int64_t g = h / (H / Hkv);
      std::vector<std::int64_t> visible;
      Values P;
      double sum = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        if (document[static_cast<std::size_t>(j)] != document[static_cast<std::size_t>(i)]) continue;
        visible.push_back(j);
        P.push_back(std::exp(config.softmax_scale * dot(q, i, h, k, j, g)));
        sum += P.back();
      }
      lse(i, h, 0) = std::log(sum);
      for (std::size_t n = 0; n < P.size(); ++n) {
        P[n] /= sum;
        for (std::int64_t d = 0; d < Dv; ++d) out(i, h, d) += P[n] * v(visible[n], g, d);
      }
      const double delta = dot(d_out, i, h, out, i, h);
      for (std::size_t n = 0; n < P.size(); ++n) {
        const std::int64_t j = visible[n];
        const double d_s = P[n] * (dot(d_out, i, h, v, j, g) - delta + d_lse(i, h, 0));
        for (std::int64_t d = 0; d < D; ++d) d_q(i, h, d) += config.softmax_scale * d_s * k(j, g, d);
        for (std::int64_t d = 0; d < D; ++d) d_k(j, g, d) += config.softmax_scale * d_s * q(i, h, d);
        for (std::int64_t d = 0; d < Dv; ++d) d_v(j, g, d) += P[n] * d_out(i, h, d);
      }
    }
  }
  AttentionConfig wide = config;
  wide.dtype = tensor::DType::fp64;
  Results results = empty_results(wide, pack);
  assign(out.values, results.out.view());
  assign(lse.values, results.lse.view());
  assign(d_q.values, results.d_q.view());
  assign(d_k.values, results.d_k.view());
  assign(d_v.values, results.d_v.view());
  return results;
}

}  // namespace straddle::cp::testing
