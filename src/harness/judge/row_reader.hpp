// Rows of a contiguous host tensor as doubles, whatever it stores.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/view.hpp"

namespace straddle::harness {

// tensor [token, head, dim] or [token, head] (then dim = 1). Reads are exact: every storage type widens to
// double.
class RowReader {
 public:
  // Throws std::invalid_argument on an integer dtype, std::logic_error on a strided view.
  explicit RowReader(const tensor::ConstView& view);

  [[nodiscard]] std::int64_t heads() const { return heads_; }
  [[nodiscard]] std::int64_t dim() const { return dim_; }

  // [dim]; valid until the next call.
  [[nodiscard]] const double* row(std::int64_t token, std::int64_t head) {
    const std::int64_t offset = (token * heads_ + head) * dim_;
    return doubles_ != nullptr ? doubles_ + offset : widen(offset);
  }

 private:
  [[nodiscard]] const double* widen(std::int64_t offset);

  const std::byte* data_;
  const double* doubles_ = nullptr;  // the data itself if it is fp64
  tensor::DType dtype_;
  std::int64_t heads_;
  std::int64_t dim_;
  std::vector<double> widened_;
};

}  // namespace straddle::harness
