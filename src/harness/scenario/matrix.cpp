#include "harness/scenario/matrix.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace straddle::harness {
namespace {

struct MatrixAxis {
  std::size_t size;
  std::function<void(Case&, std::size_t)> apply;
};

template <class T, class Apply>
MatrixAxis axis(const std::vector<T>& values, Apply apply) {
  return {values.size(), [&values, apply](Case& point, std::size_t i) { apply(point, values[i]); }};
}

std::vector<MatrixAxis> axes_of(const Matrix& matrix) {
  return {
      axis(matrix.heads,
           [](Case& point, const HeadCounts& heads) {
             point.heads = heads.heads;
             point.kv_heads = heads.kv_heads;
           }),
      axis(matrix.dims,
           [](Case& point, const HeadDims& dims) {
             point.head_dim = dims.head_dim;
             point.v_head_dim = dims.v_head_dim;
           }),
      axis(matrix.softmax_scales, [](Case& point, auto scale) { point.softmax_scale = scale; }),
      axis(matrix.layers, [](Case& point, auto layers) { point.layers = layers; }),
      axis(matrix.recompute, [](Case& point, bool recompute) { point.recompute = recompute; }),
      axis(matrix.first_segment_apart, [](Case& point, bool apart) { point.first_segment_apart = apart; }),
      axis(matrix.kinds, [](Case& point, auto kind) { point.inputs.kind = kind; }),
      axis(matrix.amplitudes, [](Case& point, auto amplitude) { point.inputs.amplitude = amplitude; }),
      axis(matrix.seeds, [](Case& point, auto seed) { point.inputs.seed = seed; }),
      axis(matrix.d_lse, [](Case& point, bool d_lse) { point.inputs.d_lse = d_lse; }),
      axis(matrix.padding_rows, [](Case& point, auto rows) { point.inputs.padding_rows = rows; }),
      axis(matrix.probes, [](Case& point, auto probe) { point.probe = probe; }),
      axis(matrix.ranks, [](Case& point, auto ranks) { point.ranks = ranks; }),
      axis(matrix.exchanges, [](Case& point, auto exchange) { point.exchange = exchange; }),
      axis(matrix.kernels, [](Case& point, const auto& kernel) { point.kernel = kernel; }),
      axis(matrix.dtypes, [](Case& point, auto dtype) { point.dtype = dtype; }),
      axis(matrix.reduces, [](Case& point, auto reduce) { point.reduce = reduce; }),
  };
}

// Keeps one of the W = 1 points that nothing but an exchange or its reduce tells apart.
std::vector<CaseEntry> without_equal_controls(std::vector<CaseEntry> entries) {
  std::unordered_map<std::string, std::size_t> chosen;
  const auto key_of = [](const Case& point) {
    Case key = point;
    key.exchange = pack::ExchangeKind::allgather;
    key.reduce = cp::Reduce::ordered;
    return print(key);
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].point.ranks != 1) continue;
    const auto [found, is_first] = chosen.try_emplace(key_of(entries[i].point), i);
    if (!is_first && (!entries[i].not_applicable || entries[found->second].not_applicable)) {
      found->second = i;
    }
  }
  std::vector<CaseEntry> result;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool keep = entries[i].point.ranks != 1 || chosen.at(key_of(entries[i].point)) == i;
    if (keep) result.push_back(std::move(entries[i]));
  }
  return result;
}

}  // namespace

double Matrix::size() const {
  double product = 1;
  for (const MatrixAxis& axis : axes_of(*this))
    product *= static_cast<double>(std::max<std::size_t>(axis.size, 1));
  return product;
}

std::vector<CaseEntry> expand(const Matrix& matrix, const CaseEntry& pack_entry) {
  const std::vector<MatrixAxis> axes = axes_of(matrix);
  std::vector<CaseEntry> entries;
  const auto count = static_cast<std::size_t>(matrix.size());
  for (std::size_t number = 0; number < count; ++number) {
    CaseEntry entry = pack_entry;
    std::size_t rest = number;
    for (std::size_t i = axes.size(); i-- > 0;) {
      axes[i].apply(entry.point, rest % axes[i].size);
      rest /= axes[i].size;
    }
    entry.text = print(entry.point);
    entry.not_applicable = not_applicable(entry.point);
    entries.push_back(std::move(entry));
  }
  return without_equal_controls(std::move(entries));
}

std::optional<std::string> not_applicable(const Case& point) {
  const bool needed_only = point.exchange != pack::ExchangeKind::allgather;
  if (needed_only && point.kernel == "dense") {
    return "the dense kernel masks whole rows and needs all keys: it goes with allgather only";
  }
  if (needed_only && point.reduce == cp::Reduce::library) {
    return "a reduce-scatter needs partials of every row: reduce = \"library\" goes with allgather only";
  }
  if (point.probe == Probe::nan_document && point.pack.documents.size() < 2) {
    return "probe = \"nan_document\" needs a second document that must stay as it was";
  }
  return std::nullopt;
}

}  // namespace straddle::harness
