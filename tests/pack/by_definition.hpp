// A pack written out slot by slot, and what the geometry must be, counted from it by definition alone.
#pragma once

#include <cstdint>
#include <vector>

#include "pack/pack.hpp"

namespace straddle::pack::by_definition {

// A set of slots, bit i = slot i; rows of at most 64 slots.
using Slots = std::uint64_t;
constexpr Slots bit(std::int64_t slot) { return Slots{1} << slot; }
constexpr Slots range(std::int64_t begin, std::int64_t end) {
  return (end >= 64 ? ~Slots{0} : bit(end) - 1) & ~(bit(begin) - 1);
}

constexpr std::int64_t kPadding = -1;

// [slots], the document of each slot or kPadding.
using Labels = std::vector<std::int64_t>;

inline Labels labels_of(const Pack& pack) {
  Labels labels(pack.slots, kPadding);
  for (std::size_t d = 0; d < pack.documents.size(); ++d) {
    for (std::int64_t i = 0; i < pack.documents[d].length; ++i) {
      labels[pack.documents[d].start + i] = static_cast<std::int64_t>(d);
    }
  }
  return labels;
}

// V(i) = { j : doc(j) = doc(i), j <= i }, empty for padding.
inline Slots visible(const Labels& labels, std::int64_t i) {
  Slots keys = 0;
  for (std::int64_t j = 0; j <= i; ++j) {
    if (labels[i] != kPadding && labels[j] == labels[i]) keys |= bit(j);
  }
  return keys;
}

// V of every slot, [slots].
inline std::vector<Slots> visible(const Labels& labels) {
  std::vector<Slots> keys;
  for (std::size_t i = 0; i < labels.size(); ++i)
    keys.push_back(visible(labels, static_cast<std::int64_t>(i)));
  return keys;
}

inline Slots real_slots(const Labels& labels, std::int64_t begin, std::int64_t end) {
  Slots real = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    if (labels[i] != kPadding) real |= bit(i);
  }
  return real;
}

// b_r word for word: rows before the cut that belong to the document at the cut.
inline std::int64_t straddle(const Labels& labels, std::int64_t cut) {
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < cut; ++i) rows += labels[cut] != kPadding && labels[i] == labels[cut];
  return rows;
}

}  // namespace straddle::pack::by_definition
