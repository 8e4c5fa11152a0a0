// Where the ranks of a case stand, those that stand at the same place together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace straddle::harness {

struct RankPlace {
  std::vector<std::int64_t> ranks;  // ascending
  std::string call;                 // "#3 all_to_all_v K/V forward", or a whole text of another form
  bool past = false;                // that call has ended: the rank computes, or came to its end
  std::string sent;                 // "4096 B", "" where the text doesn't say
  double posted_s = -1;             // seconds since it was posted, the largest of the ranks; -1: not said
  std::string before;               // "#2 all_reduce preflight", "" without
};

// where [ranks]: comm::Recorder::where() of each. In the order of each place's first rank.
[[nodiscard]] std::vector<RankPlace> places_of_ranks(const std::vector<std::string>& where);

// The place with fewer ranks than any other: the first to look at. Null without one.
[[nodiscard]] const RankPlace* odd_one_out(const std::vector<RankPlace>& places);

}  // namespace straddle::harness
