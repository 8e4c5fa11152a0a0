#include "harness/scenario/case.hpp"

#include <algorithm>
#include <cmath>

#include "harness/scenario/hash.hpp"

namespace straddle::harness {

namespace {

double default_scale(std::int64_t head_dim) { return 1 / std::sqrt(static_cast<double>(head_dim)); }

}  // namespace

double Case::scale() const { return softmax_scale.value_or(default_scale(head_dim)); }

pack::Pack Case::padded() const {
  pack::Pack result = pack;
  result.slots = rows_per_rank() * ranks;
  return result;
}

std::int64_t Case::rows_per_rank() const { return pack.slots / ranks + (pack.slots % ranks != 0 ? 1 : 0); }

std::uint32_t case_id(const Case& point) {
  const std::uint64_t hash = hash_text(print(point));
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

// Padding rows are never read by the oracle and neither is anything about ranks: documents, heads, dims,
// scale, storage dtype, layers and the values of the inputs stay.
Case oracle_point(const Case& point) {
  Case result = control_point(point);
  result.pack.slots = point.pack.documents.empty() ? 0 : point.pack.documents.back().end();
  result.kernel = Case{}.kernel;
  result.inputs.padding_rows = PaddingRows::random;
  return result;
}

// Kernel, slots and padding rows stay: the control arm is a run of the kernel under test over the same row.
Case control_point(const Case& point) {
  const Case defaults;
  Case result = point;
  result.ranks = 1;
  result.exchange = pack::ExchangeKind::allgather;
  result.reduce = defaults.reduce;
  result.first_segment_apart = defaults.first_segment_apart;
  result.recompute = defaults.recompute;
  result.probe = Probe::none;
  if (result.softmax_scale == default_scale(point.head_dim)) result.softmax_scale.reset();
  return result;
}

std::string oracle_key(const Case& point) { return print(oracle_point(point)); }
std::string control_key(const Case& point) { return print(control_point(point)); }

// From dS_ij = P_ij (<dO_i, v_j> - Delta_i + dLSE_i) and dQ_i = sc sum_j dS_ij k_j (docs/math.md). Without
// dLSE sum_j dS_ij = 0, so equal keys give dQ = 0, and where <dO_i, v_j> does not depend on j (V = 1, one
// visible key) dS = 0.
std::vector<std::string> exact_zeros(const Case& point) {
  const InputKind kind = point.inputs.kind;
  const bool one_token = std::all_of(point.pack.documents.begin(), point.pack.documents.end(),
                                     [](const pack::Document& document) { return document.length == 1; });
  const bool no_d_scores = !point.inputs.d_lse && (one_token || kind == InputKind::v_one);
  if (point.pack.documents.empty()) return {"out", "lse", "d_q", "d_k", "d_v"};
  std::vector<std::string> zeros;
  // lse of a lone key is its logit: 0 for K = 0, and possibly the middle of a ramp.
  if (one_token && (kind == InputKind::k_zero || kind == InputKind::ramp)) zeros.emplace_back("lse");
  if (no_d_scores || kind == InputKind::k_zero || (kind == InputKind::same_keys && !point.inputs.d_lse)) {
    zeros.emplace_back("d_q");
  }
  if (no_d_scores) zeros.emplace_back("d_k");
  return zeros;
}

}  // namespace straddle::harness
