// Which rows of a shard are real, and tensors of the real rows alone: what a kernel sees.
#pragma once

#include <cstdint>
#include <vector>

#include "pack/plan.hpp"
#include "tensor/tensor.hpp"
#include "tensor/view.hpp"

namespace straddle::cp {

// Consecutive rows of a tensor with padding, and where they stand among its real rows.
struct RowRun {
  std::int64_t row;   // first row in the tensor with padding
  std::int64_t real;  // first row among the real ones
  std::int64_t count;
  bool operator==(const RowRun&) const = default;
};

// The real rows of a tensor of `rows` rows, ascending; neighbouring runs are one run.
struct RealRows {
  std::int64_t rows = 0;
  std::vector<RowRun> runs;

  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] bool prefix() const;  // real rows are [0, count()): nothing has to be moved
  void append(std::int64_t row, std::int64_t more);
};

[[nodiscard]] RealRows real_query_rows(const pack::Plan& plan);  // of [rows_per_rank]
[[nodiscard]] RealRows real_key_rows(const pack::Plan& plan);    // of [b_r + rows_per_rank]

// The real rows of `padded`: a slice where they are a prefix, else a copy that `storage` owns.
[[nodiscard]] tensor::ConstView compact(const tensor::ConstView& padded, const RealRows& real,
                                        tensor::Tensor& storage);

// A result's real rows, to be written by a kernel, and its padding.
class CompactResult {
 public:
  CompactResult(const tensor::View& padded, const RealRows& real);
  [[nodiscard]] tensor::View view() { return view_; }  // [real rows, ..]
  // Brings the real rows to their places and fills padding rows with the element whose bytes are given.
  void finish(std::span<const std::byte> padding_element);

 private:
  tensor::View padded_;
  const RealRows& real_;
  tensor::Tensor storage_;
  tensor::View view_;
};

}  // namespace straddle::cp
