#include "pack/pack.hpp"

#include <fmt/format.h>

#include "pack/checked.hpp"

namespace straddle::pack {

std::int64_t Pack::real_tokens() const {
  std::int64_t tokens = 0;
  for (const Document& document : documents) tokens += document.length;
  return tokens;
}

bool Pack::gapped() const {
  std::int64_t end = 0;
  for (const Document& document : documents) {
    if (document.start != end) return true;
    end = document.end();
  }
  return false;
}

std::vector<std::int64_t> Pack::cu_seqlens() const {
  std::vector<std::int64_t> cu{0};
  cu.reserve(documents.size() + 1);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (documents[i].start != cu.back()) {
      throw PackError(fmt::format(
          "a gapped pack has no cu_seqlens: document {} starts at slot {}, the one before it ends at {}; "
          "use starts and lengths",
          i, documents[i].start, cu.back()));
    }
    cu.push_back(documents[i].end());
  }
  return cu;
}

Pack Pack::padded_to_multiple_of(std::int64_t ranks) const {
  if (ranks < 1) throw PackError(fmt::format("ranks = {}: there must be at least one", ranks));
  const std::int64_t missing = slots % ranks == 0 ? 0 : ranks - slots % ranks;
  return {documents, checked_add(slots, missing, "slots rounded up to a multiple of ranks")};
}

void Pack::validate() const {
  if (slots < 0) throw PackError(fmt::format("slots = {}: must not be negative", slots));
  std::int64_t previous_end = 0;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto [start, length] = documents[i];
    if (length < 1) {
      throw PackError(
          fmt::format("document {}: length {} must be at least 1 (empty ones vanish)", i, length));
    }
    if (start < previous_end) {
      throw PackError(fmt::format("document {}: starts at slot {}, before slot {}, where {}", i, start,
                                  previous_end, i == 0 ? "the row starts" : "the document before it ends"));
    }
    if (start > slots || length > slots - start) {
      throw PackError(
          fmt::format("document {}: {} slots from {} do not fit into slots = {}", i, length, start, slots));
    }
    previous_end = start + length;
  }
}

}  // namespace straddle::pack
