#include "harness/cli/agree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace straddle::harness {
namespace {

struct Record {
  std::int64_t exit_code;
  std::uint64_t hash;
  std::int64_t message_bytes;
};

// Everybody's messages, padded to the longest.
std::vector<std::string> gather_messages(const std::string& mine, const std::vector<Record>& ranks,
                                         comm::Transport& control) {
  std::int64_t longest = 0;
  for (const Record& rank : ranks) longest = std::max(longest, rank.message_bytes);
  std::string padded = mine;
  padded.resize(static_cast<std::size_t>(longest), '\0');
  std::string all(padded.size() * ranks.size(), '\0');
  control.all_gather("messages", std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
  std::vector<std::string> messages;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    messages.push_back(all.substr(rank * padded.size(), static_cast<std::size_t>(ranks[rank].message_bytes)));
  }
  return messages;
}

}  // namespace

std::optional<Preparation> first_failure(const Preparation& mine, comm::Transport& control) {
  const Record record{mine.exit_code, mine.hash, static_cast<std::int64_t>(mine.message.size())};
  std::vector<Record> ranks(static_cast<std::size_t>(control.size()));
  control.all_gather("preparation", std::as_bytes(std::span(&record, 1)),
                     std::as_writable_bytes(std::span(ranks)));
  const auto failed =
      std::find_if(ranks.begin(), ranks.end(), [](const Record& r) { return r.exit_code != 0; });
  if (failed != ranks.end()) {
    const auto rank = static_cast<std::size_t>(failed - ranks.begin());
    const auto messages = gather_messages(mine.message, ranks, control);
    const std::string where = rank == 0 ? "" : fmt::format("rank {}: ", rank);
    return Preparation{static_cast<int>(failed->exit_code), where + messages[rank], 0};
  }
  const auto other =
      std::find_if(ranks.begin(), ranks.end(), [&](const Record& r) { return r.hash != ranks.front().hash; });
  if (other == ranks.end()) return std::nullopt;
  return Preparation{
      2,
      fmt::format("ranks 0 and {} read different scenarios: are the files the same on every host?",
                  other - ranks.begin()),
      0};
}

}  // namespace straddle::harness
