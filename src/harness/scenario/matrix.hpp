// The matrix of a scenario: what its keys hold, and the cases that their product gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/case.hpp"
#include "harness/scenario/scenario.hpp"
#include "harness/scenario/table_reader.hpp"

namespace straddle::harness {

struct HeadCounts {
  std::int64_t heads;
  std::int64_t kv_heads;
};
struct HeadDims {
  std::int64_t head_dim;
  std::int64_t v_head_dim;
};

struct Matrix {
  // [attention]
  std::vector<HeadCounts> heads;
  std::vector<HeadDims> dims;
  std::vector<std::optional<double>> softmax_scales;
  std::vector<std::int64_t> layers;
  std::vector<bool> recompute;
  std::vector<bool> first_segment_apart;
  // [inputs]
  std::vector<InputKind> kinds;
  std::vector<double> amplitudes;
  std::vector<std::uint64_t> seeds;
  std::vector<bool> d_lse;
  std::vector<PaddingRows> padding_rows;
  std::vector<Probe> probes;
  // [matrix]
  std::vector<std::int64_t> ranks;
  std::vector<pack::ExchangeKind> exchanges;
  std::vector<std::string> kernels;
  std::vector<tensor::DType> dtypes;
  std::vector<cp::Reduce> reduces;

  [[nodiscard]] double size()
      const;  // points; a double can't overflow. An empty list counts as one value: a file's
};

// All points of one pack in the order of the members, the last varying fastest. At W = 1 nothing is
// exchanged, so of the points that differ in exchange and reduce alone only the last one that makes sense is
// kept.
[[nodiscard]] std::vector<CaseEntry> expand(const Matrix& matrix, const CaseEntry& pack_entry);

// Why the combination makes no sense, or nothing.
[[nodiscard]] std::optional<std::string> not_applicable(const Case& point);

}  // namespace straddle::harness
