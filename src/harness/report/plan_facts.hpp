// What the parts of a plan's picture are drawn from, and the small texts they share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/plan_picture.hpp"
#include "pack/path.hpp"

namespace straddle::harness {

struct PlanFacts {
  const pack::PackGeometry& geometry;
  pack::Path path;
  std::vector<std::int64_t> pairs;  // [ranks]
  std::int64_t kv_elements = 0;     // K and V of one token
  std::int64_t element_bytes = 0;   // as stored, forward
  std::int64_t gradient_bytes = 0;  // of a partial's element, backward
  std::string_view gradient_dtype;  // "fp32", "fp64"
  std::int64_t width = 0;           // columns a line may take
};

// Consecutive ranks that look the same, [first, last].
struct RankGroup {
  std::int64_t first;
  std::int64_t last;
  bool operator==(const RankGroup&) const = default;
};

// Which of the groups to show: all of them up to `limit`, else those with an important rank, the last one,
// and the first ones, ascending. Returns indices.
[[nodiscard]] std::vector<std::size_t> choose_groups(const std::vector<RankGroup>& groups,
                                                     const std::vector<std::int64_t>& important_ranks,
                                                     std::size_t limit);

// "rank 3", "rank 0-2".
[[nodiscard]] std::string rank_label(const RankGroup& group);

// The entries with spaces between them while they fit into `columns` and are at most 8, then ".. 12 more".
[[nodiscard]] std::string folded_list(const std::vector<std::int32_t>& entries, std::size_t columns);

// "512 B", "18.0 KiB", "1.5 GiB".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

// a / b, and 0 where b is 0.
[[nodiscard]] double ratio(std::int64_t a, std::int64_t b);

// Largest number of entries of a list before it folds.
inline constexpr std::size_t kListEntries = 8;

}  // namespace straddle::harness
