#include "support/packs.hpp"

namespace straddle::cp::testing {

pack::Pack pack_of(const std::vector<std::int64_t>& documents, std::int64_t padding, std::int64_t ranks) {
  std::int64_t slots = padding;
  for (const std::int64_t length : documents) slots += length;
  return pack::from_lengths(documents, slots).padded_to_multiple_of(ranks);
}

void for_every_pack(std::int64_t slots, const std::function<void(const pack::Pack&)>& visit) {
  visit(pack::from_lengths({}, slots));
  for (std::int64_t tokens = 1; tokens <= slots; ++tokens) {
    for (std::uint32_t starts = 0; starts < (1u << (tokens - 1));
         ++starts) {  // bit i: a document starts at i + 1
      std::vector<std::int64_t> lengths{1};
      for (std::int64_t token = 1; token < tokens; ++token) {
        if (starts >> (token - 1) & 1) {
          lengths.push_back(1);
        } else {
          ++lengths.back();
        }
      }
      visit(pack::from_lengths(lengths, slots));
    }
  }
}

void for_every_gapped_pack(std::int64_t slots, const std::function<void(const pack::Pack&)>& visit) {
  std::int64_t codes = 1;  // base 3, one digit a slot
  for (std::int64_t slot = 0; slot < slots; ++slot) codes *= 3;
  for (std::int64_t code = 0; code < codes; ++code) {
    std::vector<std::int64_t> starts, lengths;
    bool open = false, valid = true;  // open: the slot before is a document's
    for (std::int64_t slot = 0, rest = code; slot < slots; ++slot, rest /= 3) {
      const std::int64_t digit = rest % 3;
      if (digit == 1) {
        starts.push_back(slot);
        lengths.push_back(1);
      } else if (digit == 2) {
        valid = valid && open;
        if (valid) ++lengths.back();
      }
      open = valid && digit != 0;
    }
    if (valid) visit(pack::from_starts(starts, lengths, slots));
  }
}

std::vector<std::int64_t> document_of_slots(const pack::Pack& pack) {
  std::vector<std::int64_t> documents(static_cast<std::size_t>(pack.slots), -1);
  for (std::size_t index = 0; index < pack.documents.size(); ++index) {
    for (std::int64_t slot = pack.documents[index].start; slot < pack.documents[index].end(); ++slot) {
      documents[static_cast<std::size_t>(slot)] = static_cast<std::int64_t>(index);
    }
  }
  return documents;
}

}  // namespace straddle::cp::testing
