// Right operands of products as panels: [panel][k][kPanelColumns], columns beyond the last are zero.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/products.hpp"
#include "cpu/rows.hpp"

namespace straddle::cpu {

template <class T>
[[nodiscard]] constexpr std::int64_t panels_of(std::int64_t columns) {
  return (columns + kPanelColumns<T> - 1) / kPanelColumns<T>;
}

// Elements of a panelled matrix [depth, columns].
template <class T>
[[nodiscard]] constexpr std::int64_t panelled_size(std::int64_t depth, std::int64_t columns) {
  return panels_of<T>(columns) * depth * kPanelColumns<T>;
}

// Rows of a panelled matrix [depth, columns], `to` being the place of the first of them; they lie row by row
// at from[row * stride].
template <class T>
void panel_rows(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                std::int64_t depth, T* to) {
  constexpr std::int64_t kWidth = kPanelColumns<T>;
  for (std::int64_t first = 0; first < columns; first += kWidth, to += depth * kWidth) {
    const std::int64_t count = std::min(kWidth, columns - first);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(from + row * stride + first, count, to + row * kWidth);
      std::fill(to + row * kWidth + count, to + (row + 1) * kWidth, T{0});
    }
  }
}

// One panel [depth, kPanelColumns] whose columns are the `columns` rows at from[column * stride].
template <class T>
void panel_transposed(const T* from, std::int64_t stride, std::int64_t columns, std::int64_t depth, T* to) {
  constexpr std::int64_t kWidth = kPanelColumns<T>;
  for (std::int64_t k = 0; k < depth; ++k, to += kWidth) {
    for (std::int64_t column = 0; column < columns; ++column) to[column] = from[column * stride + k];
    std::fill(to + columns, to + kWidth, T{0});
  }
}

// Rows [token, token + count) of one head, one after the other, each `stride` long with zeros behind its end.
template <class T>
void read_rows(const RowReader<T>& from, std::int64_t token, std::int64_t count, std::int64_t head, T* to,
               std::int64_t stride) {
  for (std::int64_t i = 0; i < count; ++i, to += stride) {
    from.read(token + i, head, to);
    std::fill(to + from.size(), to + stride, T{0});
  }
}

// Rows [token, token + count) of one head of `from` (K or V of a segment) as right operands of products:
//   transposed  panels of [from.size(), count]      by_rows  panels of [count, from.size()]
// Either may be null. `stage` holds kPanelColumns rows.
template <class T>
void panel_keys(const RowReader<T>& from, std::int64_t token, std::int64_t count, std::int64_t head, T* stage,
                T* transposed, T* by_rows) {
  constexpr std::int64_t kWidth = kPanelColumns<T>;
  const std::int64_t size = from.size();
  for (std::int64_t first = 0; first < count; first += kWidth) {
    const std::int64_t rows = std::min(kWidth, count - first);
    read_rows(from, token + first, rows, head, stage, size);
    if (transposed != nullptr) panel_transposed(stage, size, rows, size, transposed + first * size);
    if (by_rows != nullptr) panel_rows(stage, size, rows, size, count, by_rows + first * kWidth);
  }
}

}  // namespace straddle::cpu
