// The pairs (query, key <= query) of a document, in shapes that hold no other pair.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

namespace straddle::reference {

// Queries [begin, end) of a document, rows counted from its start. They are worked on together, whole rows at
// a time: a matrix of the block is [end - begin, end], of which row r holds the begin + r + 1 keys it sees.
// What lies right of them is never read, so nothing a later token holds (a NaN too) reaches an earlier row.
struct Block {
  std::int64_t begin;
  std::int64_t end;
  [[nodiscard]] std::int64_t rows() const { return end - begin; }
  [[nodiscard]] std::int64_t keys() const { return end; }
  [[nodiscard]] std::int64_t visible(std::int64_t row) const { return begin + row + 1; }
};

// Calls visit(block) for a document of `length` rows in blocks of at most kBlockRows.
inline constexpr std::int64_t kBlockRows = 64;
template <class Visit>
void for_each_block(std::int64_t length, const Visit& visit) {
  for (std::int64_t begin = 0; begin < length; begin += kBlockRows) {
    visit(Block{begin, std::min(begin + kBlockRows, length)});
  }
}

// Every query of [row, row + rows) sees every key of [key, key + keys).
struct Rectangle {
  std::int64_t row, rows, key, keys;
};

// The visible pairs among queries and keys [begin, end): a square below the diagonal between two halves that
// are such triangles again.
template <class Visit>
void for_each_rectangle_of_triangle(std::int64_t begin, std::int64_t end, const Visit& visit) {
  if (end - begin == 1) return visit(Rectangle{begin, 1, begin, 1});
  const std::int64_t middle = begin + (end - begin) / 2;
  for_each_rectangle_of_triangle(begin, middle, visit);
  visit(Rectangle{middle, end - middle, begin, middle - begin});
  for_each_rectangle_of_triangle(middle, end, visit);
}

// All visible pairs of a block: the keys before it, which all its rows see, and the triangle on the diagonal.
template <class Visit>
void for_each_rectangle(const Block& block, const Visit& visit) {
  if (block.begin > 0) visit(Rectangle{block.begin, block.rows(), 0, block.begin});
  for_each_rectangle_of_triangle(block.begin, block.end, visit);
}

// out_i += sum_{j <= i} weights_ij x_j for the block's queries i.
// weights [block rows, block keys]; x [length, dim] by key; out [length, dim] by query.
template <class Weights, class Rows, class Out>
void add_over_keys(const Block& block, const Weights& weights, const Rows& x, Out& out) {
  for_each_rectangle(block, [&](const Rectangle& r) {
    out.middleRows(r.row, r.rows).noalias() +=
        weights.block(r.row - block.begin, r.key, r.rows, r.keys) * x.middleRows(r.key, r.keys);
  });
}

// out_j += sum_{i >= j} weights_ij x_i over the block's queries i.
// weights [block rows, block keys]; x [length, dim] by query; out [length, dim] by key.
template <class Weights, class Rows, class Out>
void add_over_queries(const Block& block, const Weights& weights, const Rows& x, Out& out) {
  for_each_rectangle(block, [&](const Rectangle& r) {
    out.middleRows(r.key, r.keys).noalias() +=
        weights.block(r.row - block.begin, r.key, r.rows, r.keys).transpose() * x.middleRows(r.row, r.rows);
  });
}

// One whole row of logits, visible keys only, becomes P_j = exp(s_j - LSE); returns LSE. The largest logit is
// taken out first, so no exponential overflows. The sum is kept in double.
template <class Scalar>
Scalar softmax(std::span<Scalar> row) {
  const Scalar largest = *std::max_element(row.begin(), row.end());
  for (Scalar& s : row) s = std::exp(s - largest);
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (Scalar& p : row) p = static_cast<Scalar>(p / sum);
  return static_cast<Scalar>(largest + std::log(sum));
}

}  // namespace straddle::reference
