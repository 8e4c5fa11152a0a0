// Two tensors compared bit by bit, row by row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/tensor.hpp"

namespace straddle::harness {

enum class ZeroSign : std::uint8_t { counts, ignored };  // is -0 another result than +0?

// a, b [tokens, heads, dim] or [tokens, heads]: equal dtypes, heads and dims, host memory; b may have other
// rows. Throws std::invalid_argument with both shapes otherwise. A NaN equals a NaN of the same bits only.
class BitRows {
 public:
  BitRows(const tensor::Tensor& a, const tensor::Tensor& b, ZeroSign zero_sign = ZeroSign::counts);

  [[nodiscard]] std::int64_t row_elements() const { return row_elements_; }

  // Index in the row of the first element that differs, and how many do.
  [[nodiscard]] std::optional<std::int64_t> first_difference(std::int64_t token) const;
  [[nodiscard]] std::int64_t differing(std::int64_t token) const;

  // "d_q token 7 head 1 dim 5: 3f8a0000 != 3f8b0000", a before b.
  [[nodiscard]] std::string describe(std::string_view name, std::int64_t token, std::int64_t element) const;

 private:
  [[nodiscard]] bool same_row(std::int64_t token) const;
  [[nodiscard]] bool same(std::int64_t token, std::int64_t element) const;
  [[nodiscard]] std::uint64_t bits(const tensor::Tensor& tensor, std::int64_t token,
                                   std::int64_t element) const;

  const tensor::Tensor& a_;
  const tensor::Tensor& b_;
  ZeroSign zero_sign_;
  std::size_t element_bytes_;
  std::int64_t dim_;
  std::int64_t row_elements_;
};

}  // namespace straddle::harness
