#include "harness/report/rank_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace straddle::harness {
namespace {

// Takes what stands behind the last `mark` off the text; nothing, and the text as it was, without one.
std::optional<std::string_view> take_behind(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(at + mark.size());
  text = text.substr(0, at);
  return behind;
}

// "#3 all_to_all_v K/V forward, 4096 B out, posted 2.1 s ago; before it #2 all_reduce preflight".
RankPlace parse(std::string_view text) {
  RankPlace place;
  if (const auto before = take_behind(text, "; before it ")) place.before = *before;
  if (const auto posted = take_behind(text, ", posted ")) {
    std::from_chars(posted->data(), posted->data() + posted->size(), place.posted_s);
  }
  if (text.ends_with(" B out")) {
    if (const auto sent = take_behind(text, ", ")) {
      std::from_chars(sent->data(), sent->data() + sent->size(), place.least_sent_bytes);
      place.most_sent_bytes = place.least_sent_bytes;
    }
  }
  constexpr std::string_view kPast = "past ";
  place.past = text.starts_with(kPast);
  place.call = text.substr(place.past ? kPast.size() : 0);
  return place;
}

// Bytes aside: in an all-to-all every rank sends as many as it must.
bool same_place(const RankPlace& a, const RankPlace& b) {
  return a.call == b.call && a.past == b.past && a.before == b.before;
}

bool has_fewer_ranks(const RankPlace& a, const RankPlace& b) { return a.ranks.size() < b.ranks.size(); }

}  // namespace

std::vector<RankPlace> places_of_ranks(const std::vector<std::string>& where) {
  std::vector<RankPlace> places;
  for (std::size_t rank = 0; rank < where.size(); ++rank) {
    RankPlace place = parse(where[rank]);
    const auto same = std::find_if(places.begin(), places.end(),
                                   [&](const RankPlace& other) { return same_place(place, other); });
    place.ranks.push_back(static_cast<std::int64_t>(rank));
    if (same == places.end()) {
      places.push_back(std::move(place));
    } else {
      same->ranks.push_back(static_cast<std::int64_t>(rank));
      same->posted_s = std::max(same->posted_s, place.posted_s);
      same->least_sent_bytes = std::min(same->least_sent_bytes, place.least_sent_bytes);
      same->most_sent_bytes = std::max(same->most_sent_bytes, place.most_sent_bytes);
    }
  }
  return places;
}

std::string sent_text(const RankPlace& place) {
  if (place.most_sent_bytes < 0) return "";
  if (place.least_sent_bytes == place.most_sent_bytes) return fmt::format("{} B", place.most_sent_bytes);
  return fmt::format("{}-{} B", std::max<std::int64_t>(0, place.least_sent_bytes), place.most_sent_bytes);
}

const RankPlace* odd_one_out(const std::vector<RankPlace>& places) {
  if (places.size() < 2) return nullptr;
  const auto least = std::min_element(places.begin(), places.end(), has_fewer_ranks);
  const auto equals = std::count_if(places.begin(), places.end(), [&](const RankPlace& place) {
    return place.ranks.size() == least->ranks.size();
  });
  return equals == 1 ? &*least : nullptr;
}

std::vector<RankPlace> rarest(const std::vector<RankPlace>& places, std::size_t limit) {
  std::vector<RankPlace> chosen = places;
  std::stable_sort(chosen.begin(), chosen.end(), has_fewer_ranks);
  chosen.resize(std::min(limit, chosen.size()));
  std::sort(chosen.begin(), chosen.end(),
            [](const RankPlace& a, const RankPlace& b) { return a.ranks.front() < b.ranks.front(); });
  return chosen;
}

}  // namespace straddle::harness
