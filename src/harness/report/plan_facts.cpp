#include "harness/report/plan_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace straddle::harness {

std::vector<std::size_t> choose_groups(const std::vector<RankGroup>& groups,
                                       const std::vector<std::int64_t>& important_ranks, std::size_t limit) {
  std::set<std::size_t> chosen;
  if (groups.size() > limit) {
    chosen.insert(groups.size() - 1);
    for (const std::int64_t rank : important_ranks) {
      const auto group = std::partition_point(
          groups.begin(), groups.end(), [&](const RankGroup& candidate) { return candidate.last < rank; });
      chosen.insert(group - groups.begin());
    }
  }
  for (std::size_t i = 0; i < groups.size() && chosen.size() < limit; ++i) chosen.insert(i);
  return {chosen.begin(), chosen.end()};
}

std::string rank_label(const RankGroup& group) {
  return group.first == group.last ? fmt::format("rank {}", group.first)
                                   : fmt::format("rank {}-{}", group.first, group.last);
}

std::string folded_list(const std::vector<std::int32_t>& entries, std::size_t columns) {
  const std::string whole = fmt::format("{}", fmt::join(entries, " "));
  if (entries.size() <= kListEntries && whole.size() <= columns) return whole;
  std::string best;
  for (std::size_t shown = 1; shown <= std::min(kListEntries, entries.size() - 1); ++shown) {
    std::string text = fmt::format("{} .. {} more", fmt::join(entries.begin(), entries.begin() + shown, " "),
                                   entries.size() - shown);
    if (shown > 1 && text.size() > columns) break;
    best = std::move(text);
  }
  return best;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

double ratio(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace straddle::harness
