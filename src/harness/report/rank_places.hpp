// Where the ranks of a case stand, those that stand at the same place together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace straddle::harness {

struct RankPlace {
  std::vector<std::int64_t> ranks;     // ascending
  std::string call;                    // "#3 all_to_all_v K/V forward", or a whole text of another form
  bool past = false;                   // that call has ended: the rank computes, or came to its end
  std::int64_t least_sent_bytes = -1;  // to other ranks, of the ranks; -1: not said
  std::int64_t most_sent_bytes = -1;
  double posted_s = -1;  // seconds since it was posted, the largest of the ranks; -1: not said
  std::string before;    // "#2 all_reduce preflight", "" without
};

// "4096 B", "96-4096 B"; "" where the texts don't say.
[[nodiscard]] std::string sent_text(const RankPlace& place);

// where [ranks]: comm::Recorder::where() of each. In the order of each place's first rank.
[[nodiscard]] std::vector<RankPlace> places_of_ranks(const std::vector<std::string>& where);

// The place with fewer ranks than any other: the first to look at. Null without one.
[[nodiscard]] const RankPlace* odd_one_out(const std::vector<RankPlace>& places);

// At most `limit` places, those of the fewest ranks, in the order they had.
[[nodiscard]] std::vector<RankPlace> rarest(const std::vector<RankPlace>& places, std::size_t limit);

}  // namespace straddle::harness
