// The tensors that enter a case, row by row: the same values for any W, transport and thread count.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/case.hpp"
#include "tensor/tensor.hpp"

namespace straddle::harness {

enum class InputName : std::uint8_t { q, k, v, d_out, d_lse };
[[nodiscard]] std::string_view name(InputName input);

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Inputs {
 public:
  virtual ~Inputs() = default;

  // Writes global rows [begin, begin + rows.size(token)) of one layer's tensor into `rows` [tokens, heads or
  // kv_heads, dim] (d_lse [tokens, heads]), in the case's storage dtype (d_lse: accumulation dtype). If
  // `rows` is fp64 the same stored values widened exactly. Rows past the pack's slots are padding rows too.
  virtual void fill(InputName input, std::int64_t layer, std::int64_t begin,
                    const tensor::View& rows) const = 0;
};

// Random inputs from a counter-based generator (Philox, Random123) keyed by (seed, tensor, layer, global
// token, head, dim), or the rows of a file. Throws InputError for a file: missing tensor, other shapes or
// dtype than the case says, NaN or Inf in a real row (tensor, token, head, dim).
[[nodiscard]] std::unique_ptr<Inputs> make_inputs(const Case& point);

// What a file says of itself: for scenarios with [inputs] file.
struct InputFile {
  pack::Pack pack;
  std::int64_t heads, kv_heads, head_dim, v_head_dim;
  std::optional<double> softmax_scale;  // __metadata__
  tensor::DType dtype;                  // of q
  std::uint64_t hash;                   // of its bytes
  bool has_results;                     // out, lse, d_q, d_k, d_v are stored
};
[[nodiscard]] InputFile read_input_file(const std::string& path);  // throws InputError

// The exact results stored beside the inputs, fp64, global rows [slots, ..]; by name out, lse, d_q, d_k, d_v.
// Empty without.
[[nodiscard]] std::map<std::string, tensor::Tensor> read_stored_results(const std::string& path);

// Wraps `inner`, which must outlive the result: every value x of token `token` becomes 1.5 - x, rounded to
// storage (probe change_token), or rows [begin, end) are NaN (probe nan_document). `storage` is the case's
// dtype.
[[nodiscard]] std::unique_ptr<Inputs> change_token(const Inputs& inner, tensor::DType storage,
                                                   std::int64_t token);
[[nodiscard]] std::unique_ptr<Inputs> poison_rows(const Inputs& inner, std::int64_t begin, std::int64_t end);

// The shape of `rows` rows of an input of the case.
[[nodiscard]] tensor::Shape input_shape(const Case& point, InputName input, std::int64_t rows);

}  // namespace straddle::harness
