// What the dense kernel does with one row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/problem.hpp"

namespace straddle::cpu {

// Long sums are made of sums over this many terms, counted from the segment's first key or query.
inline constexpr std::int64_t kSumChunk = 64;

// The keys that a query sees, as rows of the problem's k.
struct VisibleKeys {
  std::int64_t begin, end;
  [[nodiscard]] bool has(std::int64_t key) const { return key >= begin && key < end; }
};

[[nodiscard]] inline VisibleKeys visible_keys(const Segment& segment, std::int64_t query) {
  return {segment.k_begin, segment.k_begin + segment.visible_keys(query)};
}

// Inner products of `row` with every key: to[j] = sum over d of row[d] transposed[d][j], for all keys.
template <class T>
void inner_products(const std::vector<T>& row, const std::vector<T>& transposed, std::vector<T>& to) {
  std::fill(to.begin(), to.end(), T{0});
  const std::size_t keys = to.size();
  for (std::size_t d = 0; d < row.size(); ++d) {
    const T* of_d = transposed.data() + d * keys;
    for (std::size_t j = 0; j < keys; ++j) to[j] = std::fma(row[d], of_d[j], to[j]);
  }
}

// Logits of one query over all keys: the scaled inner products, -inf by selection where the query doesn't see
// the key, so that no value of such a key (NaN) matters.
template <class T>
void masked_logits(const std::vector<T>& query, const std::vector<T>& k_transposed, T scale,
                   VisibleKeys visible, std::vector<T>& logits) {
  inner_products(query, k_transposed, logits);
  for (std::size_t j = 0; j < logits.size(); ++j) {
    logits[j] =
        visible.has(static_cast<std::int64_t>(j)) ? logits[j] * scale : -std::numeric_limits<T>::infinity();
  }
}

// The sum of weights over visible keys.
template <class T>
[[nodiscard]] T sum_of_visible(const std::vector<T>& weights, VisibleKeys visible) {
  T total = 0;
  for (std::int64_t first = visible.begin; first < visible.end; first += kSumChunk) {
    T part = 0;
    const std::int64_t end = std::min(first + kSumChunk, visible.end);
    for (std::int64_t j = first; j < end; ++j) part += weights[static_cast<std::size_t>(j)];
    total += part;
  }
  return total;
}

// to[d] += weight row[d]
template <class T>
void add_scaled(T weight, const T* row, T* to, std::size_t size) {
  for (std::size_t d = 0; d < size; ++d) to[d] = std::fma(weight, row[d], to[d]);
}

// to[d] = sum over visible j of weights[j] rows[j][d]; other rows are left out, not multiplied by zero.
template <class T>
void weighted_sum(const std::vector<T>& weights, const std::vector<T>& rows, VisibleKeys visible,
                  std::vector<T>& to) {
  std::fill(to.begin(), to.end(), T{0});
  std::vector<T> part(to.size());
  for (std::int64_t first = visible.begin; first < visible.end; first += kSumChunk) {
    std::fill(part.begin(), part.end(), T{0});
    const std::int64_t end = std::min(first + kSumChunk, visible.end);
    for (std::int64_t j = first; j < end; ++j) {
      const auto row = static_cast<std::size_t>(j);
      add_scaled(weights[row], rows.data() + row * to.size(), part.data(), to.size());
    }
    for (std::size_t d = 0; d < to.size(); ++d) to[d] += part[d];
  }
}

}  // namespace straddle::cpu
