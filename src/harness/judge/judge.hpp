// From global results and the oracle to a judgement: what is wrong, where, by how much of what was allowed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/scenario/case.hpp"
#include "pack/path.hpp"
#include "pack/plan.hpp"
#include "tensor/tensor.hpp"

namespace straddle::harness {

inline constexpr std::array<std::string_view, 5> kResultNames = {"out", "lse", "d_q", "d_k", "d_v"};

// out, lse, d_q, d_k, d_v of one layer, global token order, rows [0, padded slots), host memory; as the
// subject stored them.
struct LayerResults {
  tensor::Tensor out, lse, d_q, d_k, d_v;
  [[nodiscard]] const tensor::Tensor& by_name(std::string_view name) const;  // throws std::invalid_argument
  [[nodiscard]] tensor::Tensor& by_name(std::string_view name);
};

// The oracle's results of one layer in fp64 with the condition scales of the bounds (docs/math.md), rows [0,
// end of the last document): what follows is padding, of which cases that share an oracle have more or less.
struct OracleLayer {
  LayerResults results;                              // fp64
  std::map<std::string, tensor::Tensor> sigma, tau;  // by out, d_q, d_k, d_v; fp64
  std::vector<double> largest_logit;                 // A, [documents]
  // used / allowed of the float reference, by (tensor index in kResultNames, document): what plain fp32
  // arithmetic needs here, the largest over the kv heads. NaN where it would cost too long.
  std::vector<std::array<double, 5>> float_reference_used;  // [documents][5]; empty if not asked for
};

enum class Criterion : std::uint8_t { element, row, document, exact_zero, not_finite };
[[nodiscard]] std::string_view name(Criterion criterion);

// One element, located.
struct Place {
  std::int64_t token = 0;  // global
  std::int64_t rank = 0;
  std::int64_t local_row = 0;
  std::int64_t document_row = 0;
  std::int64_t head = 0;
  std::int64_t dim = 0;
  double got = 0;
  double want = 0;
};

// One tensor of one document of one layer.
struct TensorVerdict {
  std::string tensor;
  std::int64_t layer = 0;
  std::int64_t document = 0;
  std::int64_t tokens = 0;                    // of the document
  Criterion criterion = Criterion::document;  // the one with the largest used / allowed
  double used = 0;  // by that criterion, relative to the reference's norm where it has one
  double allowed = 0;
  double ratio = 0;  // used / allowed, the worst over the criteria; > 1 is wrong; infinity: NaN, Inf or
                     // non-zero where 0 is due
  double float_reference = 0;   // ratio of the float reference, beside it; NaN where it was not measured
  bool reference_zero = false;  // the exact answer is 0 everywhere, but for rounding of the oracle's doubles
  std::int64_t wrong_rows = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> wrong_ranges;  // global rows, half open, ascending
  std::vector<std::int64_t> wrong_heads;
  std::int64_t heads = 0;      // of this tensor
  std::optional<Place> first;  // first wrong element; none where only the document's own bound is broken
  std::optional<Place> worst;  // uses most of its bound, on passing tensors too
  std::vector<double>
      relative_by_rank;  // [W] ||err|| / ||ref|| of the document's rows on that rank; NaN without rows
  std::vector<bool> wrong_by_rank;  // [W]
  [[nodiscard]] bool wrong() const { return !(ratio <= 1); }
};

// Rows that belong to no document: each must hold exactly 0 (lse: -inf).
struct PaddingVerdict {
  std::string tensor;
  std::int64_t layer = 0;
  std::int64_t rows = 0;  // judged
  std::int64_t wrong_rows = 0;
  std::optional<Place> first;
};

struct InvariantVerdict {
  std::string id;  // "I3"
  std::int64_t layer = 0;
  std::int64_t document = -1;  // -1: of the case
  std::int64_t head = -1;      // kv head, -1: all
  double used = 0;
  double allowed = 0;
  std::string sentence;  // "sum_j dV_j = sum_h sum_i dO_i"
  [[nodiscard]] bool broken() const { return !(used <= allowed); }
};

// Equality with the W = 1 run of the same kernel.
struct BitsVerdict {
  bool compared = false;
  bool equal = true;       // out, lse, d_q in every bit; d_k, d_v of documents on one rank
  std::string difference;  // "d_q token 7 head 1: 3f8a.. != 3f8b..", first one
  // 16-bit: share of the elements of d_k, d_v that changed, of the document on several ranks that uses most
  // of what it is allowed. 0 and 0 without such a document.
  double changed_share_d_kv = 0;
  double allowed_share = 0;
};

struct Judgement {
  std::vector<TensorVerdict> tensors;  // layer, tensor, document ascending; every one, passing too
  std::vector<PaddingVerdict> padding;
  std::vector<InvariantVerdict> invariants;  // every one that was checked
  BitsVerdict bits;
  std::vector<std::string> zero_references;  // tensors whose reference norm is 0 over the whole case
  [[nodiscard]] double worst_ratio() const;
  [[nodiscard]] const TensorVerdict* worst() const;  // null without tensors
  [[nodiscard]] bool wrong() const;                  // any tensor, padding, invariant or bit
};

// Compares one layer's results with the oracle, by the bounds of docs/math.md for the case's dtype. `as`
// overrides the dtype whose bounds apply (fp64 for the plan run of a 16-bit case). Appends to
// judgement.tensors and judgement.padding.
void compare_layer(const Case& point, std::int64_t layer, const LayerResults& results,
                   const OracleLayer& oracle, std::optional<tensor::DType> as, Judgement& judgement);

// Invariants I2 to I6 of one layer from inputs and results alone, I1 for v_one and I16 for k_zero inputs,
// each with a bound from magnitudes (no oracle), for the dtype of results.out. With d_lse I2 and I6 have a
// term for it. inputs: q, k, v, d_out, d_lse by name, fp64, rows [0, slots).
void check_invariants(const Case& point, std::int64_t layer,
                      const std::map<std::string, tensor::Tensor>& inputs, const LayerResults& results,
                      Judgement& judgement);

// Bits against the W = 1 run of the same kernel.
void compare_bits(const Case& point, std::int64_t layer, const LayerResults& results,
                  const LayerResults& control, Judgement& judgement);

// Bits of a probe's second run against its first: change_token (rows before the token and other documents
// equal, the token's own row changed in out) or nan_document (all other documents equal). Appends I8 or I9.
void compare_probe(const Case& point, std::int64_t layer, std::int64_t token_or_document,
                   const LayerResults& first, const LayerResults& second, Judgement& judgement);

// 64-bit checksum of the bytes of rows [0, slots) of a tensor, independent of how many padding rows follow.
[[nodiscard]] std::uint64_t checksum(const tensor::Tensor& tensor, std::int64_t rows);

}  // namespace straddle::harness
