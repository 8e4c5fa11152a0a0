// Segments of a varlen problem and their tiles: which rows see which keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "cpu/vector.hpp"

namespace straddle::cpu {

// Edges of key tiles are counted from the segment's first key, so a row meets its keys in the same tiles
// whatever other rows are there.
inline constexpr std::int64_t kTileKeys = 256;
// Rows of a query tile: the query heads of one kv head, stacked token by token.
inline constexpr std::int64_t kTileRows = 256;
// From row to row of a tile's logits: an odd number of cache lines, so that rows don't compete for the same
// sets.
template <class T>
inline constexpr std::int64_t kLogitStride = kTileKeys + kLanes<T>;

// Queries [q_begin, q_begin + queries) attend to keys [k_begin, k_begin + keys), causal from the bottom
// right.
struct Segment {
  std::int64_t q_begin, queries;
  std::int64_t k_begin, keys;

  [[nodiscard]] std::int64_t visible_keys(std::int64_t query) const {
    return std::max<std::int64_t>(0, query + 1 + keys - queries);
  }
  // The first query that sees a key.
  [[nodiscard]] std::int64_t first_query() const {
    return keys == 0 ? queries : std::max<std::int64_t>(0, queries - keys);
  }
  // Pairs of a query and a key it sees.
  [[nodiscard]] std::int64_t pairs() const {
    const std::int64_t rows = queries - first_query();
    return rows * keys - rows * (rows - 1) / 2;
  }
};

[[nodiscard]] inline Segment segment_of(std::span<const std::int32_t> cu_seqlens_q,
                                        std::span<const std::int32_t> cu_seqlens_k, std::size_t index) {
  return {cu_seqlens_q[index], cu_seqlens_q[index + 1] - cu_seqlens_q[index], cu_seqlens_k[index],
          cu_seqlens_k[index + 1] - cu_seqlens_k[index]};
}

// Tokens [first, first + tokens) of a segment's queries; row r is token first + r / group, head r % group of
// the group.
struct QueryTile {
  std::int64_t first;  // counted from the segment's first query
  std::int64_t tokens;
  std::int64_t group;
  std::int64_t first_visible;  // keys that token `first` sees, at least 1

  [[nodiscard]] std::int64_t rows() const { return tokens * group; }
  [[nodiscard]] std::int64_t visible_keys(std::int64_t row) const { return first_visible + row / group; }
  [[nodiscard]] std::int64_t keys() const { return first_visible + tokens - 1; }  // that its last token sees
  [[nodiscard]] std::int64_t first_row_that_sees(std::int64_t key) const {
    return std::clamp<std::int64_t>((key + 1 - first_visible) * group, 0, rows());
  }
};

[[nodiscard]] inline std::int64_t tile_tokens(std::int64_t group) {
  return std::max<std::int64_t>(1, kTileRows / group);
}

[[nodiscard]] inline QueryTile query_tile(const Segment& segment, std::int64_t first, std::int64_t group) {
  return {first, std::min(tile_tokens(group), segment.queries - first), group, segment.visible_keys(first)};
}

}  // namespace straddle::cpu
