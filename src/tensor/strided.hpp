// Walking one or two strided views row by row, with as few and as long rows as their strides allow.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/shape.hpp"

namespace straddle::tensor {

// Loops over a shape with N stride sets (in elements), the innermost last: loops whose elements follow each
// other at equal distance in every set are one loop. Axes of size 1 vanish.
template <std::size_t N>
class StridedLoops {
 public:
  using Offsets = std::array<std::int64_t, N>;
  using Strides = std::array<std::int64_t, Shape::kMaxAxes>;

  StridedLoops(const Shape& shape, const std::array<Strides, N>& strides) : empty_(shape.numel() == 0) {
    for (std::size_t axis = 0; axis < shape.extents().size(); ++axis) {
      if (shape.extents()[axis].size == 1) continue;
      Loop loop{shape.extents()[axis].size, {}};
      for (std::size_t n = 0; n < N; ++n) loop.strides[n] = strides[n][axis];
      if (count_ > 0 && continues(loops_[count_ - 1], loop)) {
        loop.size *= loops_[--count_].size;
      }
      loops_[count_++] = loop;
    }
    if (count_ == 0) loops_[count_++] = {1, {}};
  }

  // row(offsets, size, strides): elements offsets[n] + i * strides[n], i in [0, size), of set n.
  template <class Row>
  void for_each_row(const Row& row) const {
    if (!empty_) descend(0, Offsets{}, row);
  }

 private:
  struct Loop {
    std::int64_t size = 1;
    Offsets strides{};
  };

  static bool continues(const Loop& outer, const Loop& inner) {
    for (std::size_t n = 0; n < N; ++n) {
      if (outer.strides[n] != inner.size * inner.strides[n]) return false;
    }
    return true;
  }

  template <class Row>
  void descend(std::size_t depth, Offsets offsets, const Row& row) const {
    const Loop& loop = loops_[depth];
    // The second test is implied by the first; it bounds the recursion for the compiler.
    if (depth + 1 == count_ || depth + 1 == loops_.size()) return row(offsets, loop.size, loop.strides);
    for (std::int64_t i = 0; i < loop.size; ++i) {
      descend(depth + 1, offsets, row);
      for (std::size_t n = 0; n < N; ++n) offsets[n] += loop.strides[n];
    }
  }

  std::array<Loop, Shape::kMaxAxes> loops_{};
  std::size_t count_ = 0;
  bool empty_;
};

}  // namespace straddle::tensor
