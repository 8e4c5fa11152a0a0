#include "cp/consensus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "cp/attention.hpp"

namespace straddle::cp {
namespace {

constexpr std::size_t kTextBytes = 1024;

// Of each rank; in this order.
std::vector<std::uint64_t> gather_hashes(std::uint64_t mine, comm::Transport& transport) {
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(transport.size()));
  transport.all_gather("error text", std::as_bytes(std::span(&mine, 1)),
                       std::as_writable_bytes(std::span(hashes)));
  return hashes;
}

// What most ranks hold; among equals, what the first of them holds.
std::uint64_t majority(const std::vector<std::uint64_t>& hashes) {
  const auto votes = [&](std::uint64_t hash) { return std::count(hashes.begin(), hashes.end(), hash); };
  return *std::max_element(hashes.begin(), hashes.end(),
                           [&](std::uint64_t a, std::uint64_t b) { return votes(a) < votes(b); });
}

[[noreturn]] void throw_disagreement(const std::vector<std::uint64_t>& hashes,
                                     const std::vector<std::string>& texts) {
  const std::uint64_t common = majority(hashes);
  const auto first = std::find_if(hashes.begin(), hashes.end(), [&](std::uint64_t h) { return h != common; });
  const auto odd = static_cast<std::size_t>(first - hashes.begin());
  const auto normal =
      static_cast<std::size_t>(std::find(hashes.begin(), hashes.end(), common) - hashes.begin());
  throw ConsensusError(static_cast<int>(odd), "consensus",
                       fmt::format("ranks disagree about case or plan: rank {} is at {}; rank {} is at {}",
                                   odd, texts[odd], normal, texts[normal]));
}

}  // namespace

ConsensusError::ConsensusError(int failed_rank, std::string step, std::string cause)
    : std::runtime_error(fmt::format("rank {} failed in {}: {}", failed_rank, step, cause)),
      failed_rank_(failed_rank),
      step_(std::move(step)) {}

// splitmix64 (Steele, Lea, Flood 2014), chained.
std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t z = hash + 0x9e3779b97f4a7c15u + value;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::vector<std::string> gather_texts(std::string_view mine, comm::Transport& transport) {
  std::array<char, kTextBytes> record{};  // zero-terminated
  const std::size_t length = std::min(mine.size(), kTextBytes - 1);
  std::copy_n(mine.begin(), length, record.begin());
  if (length < mine.size()) std::copy_n("...", 3, record.begin() + kTextBytes - 4);

  std::vector<char> all(static_cast<std::size_t>(transport.size()) * kTextBytes);
  transport.all_gather("error text", std::as_bytes(std::span(record)),
                       std::as_writable_bytes(std::span(all)));
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += kTextBytes) texts.emplace_back(all.data() + at);
  return texts;
}

void reach_consensus(const Step& step, const std::optional<std::string>& failure,
                     comm::Transport& transport) {
  // max(hash) == ~max(~hash) == min(hash) only where all ranks hold the same hash.
  std::array<std::uint64_t, 3> facts{failure ? 1u : 0u, step.hash, ~step.hash};
  transport.all_reduce_max("consensus", facts);
  const bool agreed = facts[1] == ~facts[2];
  if (facts[0] == 0 && agreed) return;

  if (facts[0] == 0) {
    const auto hashes = gather_hashes(step.hash, transport);
    throw_disagreement(hashes, gather_texts(step.text, transport));
  }
  // A rank that failed says where, since others may be elsewhere.
  const auto texts = gather_texts(failure ? fmt::format("{}\n{}", step.name, *failure) : "", transport);
  const auto first =
      std::find_if(texts.begin(), texts.end(), [](const std::string& t) { return !t.empty(); });
  const std::size_t line_end = first->find('\n');
  throw ConsensusError(static_cast<int>(first - texts.begin()), first->substr(0, line_end),
                       first->substr(line_end + 1));
}

}  // namespace straddle::cp
