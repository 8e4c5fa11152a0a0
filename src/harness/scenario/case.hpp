// One point of a scenario's matrix: everything that influences a run, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cp/exchange.hpp"
#include "pack/pack.hpp"
#include "pack/plan.hpp"
#include "tensor/dtype.hpp"

namespace straddle::harness {

enum class InputKind : std::uint8_t {
  normal,     // q, k, v, d_out standard normal; q and k times amplitude
  k_zero,     // K = 0: lse_i = ln t, out = running mean (invariant I16)
  v_one,      // V = 1: out = 1 (invariant I1)
  same_keys,  // all keys of a document equal
  ramp,       // logits on a ramp over the keys of a document, from -amplitude to amplitude
  file        // real tensors
};

enum class PaddingRows : std::uint8_t { random, nan };  // what q, k, v, d_out, d_lse hold on padding rows

enum class Probe : std::uint8_t {
  none,
  change_token,  // a second run with one token changed: earlier rows and other documents keep their bits
                 // (invariant I8)
  nan_document   // a second run with NaN in one whole document: the others keep their bits (invariant I9)
};

struct InputSpec {
  InputKind kind = InputKind::normal;
  double amplitude = 1;
  std::uint64_t seed = 7;
  bool d_lse = false;
  PaddingRows padding_rows = PaddingRows::random;
  std::string file;             // path as the scenario gave it, resolved; kind == file
  std::uint64_t file_hash = 0;  // of the file's bytes
  bool operator==(const InputSpec&) const = default;
};

struct Case {
  std::int64_t ranks = 1;  // W
  pack::Pack pack;         // slots before they are padded to a multiple of W
  std::int64_t heads = 4;
  std::int64_t kv_heads = 2;
  std::int64_t head_dim = 64;
  std::int64_t v_head_dim = 64;
  std::optional<double> softmax_scale;  // default head_dim^-1/2
  tensor::DType dtype = tensor::DType::fp32;
  pack::ExchangeKind exchange = pack::ExchangeKind::a2a;
  std::string kernel = "cpu";
  cp::Reduce reduce = cp::Reduce::ordered;
  bool first_segment_apart = false;
  std::int64_t layers = 1;
  bool recompute = false;  // forward again before each layer's backward
  Probe probe = Probe::none;
  InputSpec inputs;

  [[nodiscard]] double scale() const;       // softmax_scale or its default
  [[nodiscard]] pack::Pack padded() const;  // the pack with slots rounded up to a multiple of W
  [[nodiscard]] std::int64_t rows_per_rank() const;
  bool operator==(const Case&) const = default;
};

// The one name of a case, only A-Za-z0-9,:+/._- : W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7, further keys only
// where they differ from the default, in a fixed order. Lengths repeat as 512x8; D64:32 where Dv != D; a
// gapped pack is g0:3,4:2,8:4+1 (start:length, then slots after the last). A pack whose text would be long is
// p and the hash of its geometry, inputs from a file f and its hash: such a case is found again only with its
// scenario file.
[[nodiscard]] std::string print(const Case& point);

// A case text that can't be read: where in it, what was expected and what was seen.
class CaseTextError : public std::invalid_argument {
 public:
  CaseTextError(std::string_view text, std::size_t position, const std::string& message);
  [[nodiscard]] std::size_t position() const { return position_; }  // in the text, from 0

 private:
  std::size_t position_;
};

// Inverse of print for texts without hashes: parse(print(x)) == x. Throws CaseTextError: position, what was
// expected and seen. A text with a hash is refused with the advice to name the scenario file.
[[nodiscard]] Case parse_case(std::string_view text);
[[nodiscard]] bool names_a_file(std::string_view text);  // holds a hash

[[nodiscard]] std::uint32_t case_id(const Case& point);  // hash of the text

// The case with everything that can't influence the oracle reset (ranks, exchange, kernel, reduce, .., slots
// = documents' end): cases with equal keys share one oracle. And what can't influence the W = 1 run reset:
// they share one control arm. The points are what the keys name: run these, so that a shared result does not
// depend on which case came first.
[[nodiscard]] Case oracle_point(const Case& point);
[[nodiscard]] Case control_point(const Case& point);
[[nodiscard]] std::string oracle_key(const Case& point);
[[nodiscard]] std::string control_key(const Case& point);

// Results whose exact value is 0 over the whole case: d_q of K = 0, d_q and d_k where every document has one
// token, .. In the order of out, lse, d_q, d_k, d_v.
[[nodiscard]] std::vector<std::string> exact_zeros(const Case& point);

}  // namespace straddle::harness
