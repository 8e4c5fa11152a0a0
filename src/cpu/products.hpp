// Matrix products whose every element is a sum of chains of multiply-adds, each over at most kChain k in
// order, whatever the extents: the bits of an element depend on its own operands alone, and zeros before or
// after them change nothing. One chain over all k would round a logit of a large head twice as badly.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/vector.hpp"

namespace straddle::cpu {

// Register block: kBlockRows rows of C times a panel of kPanelVectors vectors. The accumulators, a row of the
// panel and one broadcast fit into 32 registers (AVX-512) or 16 (AVX2).
inline constexpr int kBlockRows = kVectorBytes == 64 ? 8 : 6;
inline constexpr int kPanelVectors = 2;
template <class T>
inline constexpr int kPanelColumns = kPanelVectors* kLanes<T>;

// Chains start at the multiples of kChain.
inline constexpr std::int64_t kChain = 64;

// How the left operand lies in memory: element (m, k) at data[m * stride + k], or at data[m + k * stride].
enum class Left { rows, transposed };
// What happens to C.
enum class Into { set, add };

// Rows k of B that count for a block of rows of C.
struct Depth {
  std::int64_t begin;
  std::int64_t end;
};

namespace detail {

template <class T, Left left, Into into, int Rows, int Vectors>
inline void multiply_block(std::int64_t depth, const T* a, std::int64_t a_stride, const T* b, T* c,
                           std::int64_t c_stride) {
  constexpr int kLane = kLanes<T>;
  const std::int64_t a_row = left == Left::rows ? a_stride : 1;
  const std::int64_t a_step = left == Left::rows ? 1 : a_stride;
  Vector<T> sum[Rows][Vectors] = {};
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector<T> row_of_b[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) row_of_b[v] = load(b + v * kLane);
#pragma GCC unroll 8
    for (int m = 0; m < Rows; ++m) {
      const Vector<T> element = broadcast(a[m * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) sum[m][v] = mul_add(element, row_of_b[v], sum[m][v]);
    }
    a += a_step;
    b += kPanelColumns<T>;
  }
#pragma GCC unroll 8
  for (int m = 0; m < Rows; ++m) {
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      T* to = c + m * c_stride + v * kLane;
      store(to, into == Into::add ? load(to) + sum[m][v] : sum[m][v]);
    }
  }
}

// The last rows of C: fewer than a whole block.
template <class T, Left left, Into into, int Rows, int Vectors>
inline void multiply_rest(std::int64_t rows, std::int64_t depth, const T* a, std::int64_t a_stride,
                          const T* b, T* c, std::int64_t c_stride) {
  if constexpr (Rows > 0) {
    if (rows == Rows) return multiply_block<T, left, into, Rows, Vectors>(depth, a, a_stride, b, c, c_stride);
    multiply_rest<T, left, into, Rows - 1, Vectors>(rows, depth, a, a_stride, b, c, c_stride);
  }
}

}  // namespace detail

// C[m][..] = or += sum over k in depth_of(first, last) of A(m, k) B[k][..], for rows m in [row_begin,
// row_end) and Vectors vectors of columns. depth_of gives the k for the block of rows [first, last]; each
// chain starts at zero and is added to C at its end.
//
//   a  element (0, 0) of A          b  row 0 of one panel: [k][kPanelColumns]         c  row 0 of C
template <class T, Left left, Into into, int Vectors, class DepthOf>
void multiply_panel(std::int64_t row_begin, std::int64_t row_end, const DepthOf& depth_of, const T* a,
                    std::int64_t a_stride, const T* b, T* c, std::int64_t c_stride) {
  for (std::int64_t m = row_begin; m < row_end; m += kBlockRows) {
    const std::int64_t rows = std::min<std::int64_t>(kBlockRows, row_end - m);
    const Depth all = depth_of(m, m + rows - 1);
    T* const c_block = c + m * c_stride;
    const auto chain = [&]<Into how>(std::int64_t begin, std::int64_t end) {
      const T* const a_block = left == Left::rows ? a + m * a_stride + begin : a + m + begin * a_stride;
      const T* const b_block = b + begin * kPanelColumns<T>;
      if (rows == kBlockRows) {
        detail::multiply_block<T, left, how, kBlockRows, Vectors>(end - begin, a_block, a_stride, b_block,
                                                                  c_block, c_stride);
      } else {
        detail::multiply_rest<T, left, how, kBlockRows - 1, Vectors>(rows, end - begin, a_block, a_stride,
                                                                     b_block, c_block, c_stride);
      }
    };
    const auto chain_end = [&](std::int64_t k) { return std::min(all.end, (k / kChain + 1) * kChain); };
    std::int64_t k = chain_end(all.begin);
    chain.template operator()<into>(all.begin, k);
    for (; k < all.end; k = chain_end(k)) chain.template operator()<Into::add>(k, chain_end(k));
  }
}

// As multiply_panel, for a panel of which only `columns` are needed: vectors beyond them are not computed.
template <class T, Left left, Into into, class DepthOf>
void multiply_panel(std::int64_t columns, std::int64_t row_begin, std::int64_t row_end,
                    const DepthOf& depth_of, const T* a, std::int64_t a_stride, const T* b, T* c,
                    std::int64_t c_stride) {
  static_assert(kPanelVectors == 2);
  if (columns > kLanes<T>) {
    multiply_panel<T, left, into, 2>(row_begin, row_end, depth_of, a, a_stride, b, c, c_stride);
  } else {
    multiply_panel<T, left, into, 1>(row_begin, row_end, depth_of, a, a_stride, b, c, c_stride);
  }
}

}  // namespace straddle::cpu
