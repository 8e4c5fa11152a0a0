#include "pack/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace straddle::pack {
namespace {

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

// A chain of splitmix64 steps (Steele, Lea, Flood 2014): every word passes its finalizer, so that order
// counts.
class Hash {
 public:
  void add(std::int64_t word) {
    state_ = (state_ ^ static_cast<std::uint64_t>(word)) + 0x9e3779b97f4a7c15u;
    state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
    state_ = (state_ ^ (state_ >> 27)) * 0x94d049bb133111ebu;
    state_ ^= state_ >> 31;
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

std::uint64_t hash_of(const Pack& pack, std::int64_t ranks) {
  Hash hash;
  hash.add(ranks);
  hash.add(pack.slots);
  for (const Document& document : pack.documents) {
    hash.add(document.start);
    hash.add(document.length);
  }
  return hash.value();
}

std::vector<std::int64_t> straddles_of(const Pack& pack, std::int64_t ranks, std::int64_t rows) {
  std::vector<std::int64_t> straddles(ranks, 0);
  for (const Document& document : pack.documents) {
    // The cuts rL inside the document, past its first row: start < rL < end.
    for (std::int64_t rank = document.start / rows + 1; rank <= (document.end() - 1) / rows; ++rank) {
      straddles[rank] = rank * rows - document.start;
    }
  }
  return straddles;
}

std::vector<std::int64_t> real_rows_of(const Pack& pack, std::int64_t ranks, std::int64_t rows) {
  std::vector<std::int64_t> real(ranks, 0);
  for (const Document& document : pack.documents) {
    for (std::int64_t rank = document.start / rows; rank <= (document.end() - 1) / rows; ++rank) {
      real[rank] += std::min(document.end(), (rank + 1) * rows) - std::max(document.start, rank * rows);
    }
  }
  return real;
}

// Looks at all ranks, so that all ranks refuse the pack together.
void check_kernel_int32(const std::vector<std::int64_t>& straddles,
                        const std::vector<std::int64_t>& real_rows) {
  for (std::size_t rank = 0; rank < straddles.size(); ++rank) {
    const std::int64_t keys = straddles[rank] + real_rows[rank];
    if (keys <= kInt32Max) continue;
    throw PackError(fmt::format(
        "rank {}: its cu_seqlens_k would end at b + n = {} + {} = {}, but a kernel takes int32, at "
        "most {}; use more ranks or shorter documents",
        rank, straddles[rank], real_rows[rank], keys, kInt32Max));
  }
}

}  // namespace

std::int64_t rows_per_rank(const Pack& pack, std::int64_t ranks) {
  if (ranks < 1 || ranks > kInt32Max) {
    throw PackError(fmt::format("ranks = {}: must lie in [1, {}]", ranks, kInt32Max));
  }
  if (pack.slots < 1) throw PackError(fmt::format("slots = {}: a pack needs at least one slot", pack.slots));
  if (pack.slots % ranks != 0) {
    throw PackError(fmt::format(
        "slots = {} is not a multiple of ranks = {}: the last {} rows would belong to nobody; pad "
        "the row to a multiple first",
        pack.slots, ranks, pack.slots % ranks));
  }
  return pack.slots / ranks;
}

std::vector<std::int64_t> straddles(const Pack& pack, std::int64_t ranks) {
  pack.validate();
  return straddles_of(pack, ranks, rows_per_rank(pack, ranks));
}

std::vector<std::int64_t> real_rows(const Pack& pack, std::int64_t ranks) {
  pack.validate();
  return real_rows_of(pack, ranks, rows_per_rank(pack, ranks));
}

PackGeometry::PackGeometry(const Pack& pack, std::int64_t ranks) : pack_(&pack), ranks_(ranks) {
  pack.validate();
  rows_per_rank_ = pack::rows_per_rank(pack, ranks);
  straddles_ = straddles_of(pack, ranks, rows_per_rank_);
  real_rows_ = real_rows_of(pack, ranks, rows_per_rank_);
  check_kernel_int32(straddles_, real_rows_);
  max_straddle_rank_ = std::max_element(straddles_.begin(), straddles_.end()) - straddles_.begin();
  hash_ = hash_of(pack, ranks);
}

std::pair<std::int64_t, std::int64_t> PackGeometry::documents_of(std::int64_t rank) const {
  const auto& documents = pack_->documents;
  const std::int64_t begin = rank * rows_per_rank_;
  const std::int64_t end = begin + rows_per_rank_;
  const auto first = std::partition_point(documents.begin(), documents.end(),
                                          [&](const Document& document) { return document.end() <= begin; });
  const auto last = std::partition_point(first, documents.end(),
                                         [&](const Document& document) { return document.start < end; });
  return {first - documents.begin(), last - documents.begin()};
}

}  // namespace straddle::pack
