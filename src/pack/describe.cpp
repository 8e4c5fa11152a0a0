#include "pack/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>

#include "pack/checked.hpp"

namespace straddle::pack {
namespace {

void check_not_negative(std::string_view list, std::size_t i, std::int64_t value) {
  if (value < 0) throw PackError(fmt::format("{}[{}] = {}: must not be negative", list, i, value));
}

// The row's length: as given, or as long as the documents need. `last` names the entry that ends there.
std::int64_t row_slots(std::optional<std::int64_t> slots, std::int64_t end, std::string_view last) {
  if (!slots) return end;
  if (*slots < 0) throw PackError(fmt::format("slots = {}: must not be negative", *slots));
  if (end > *slots) {
    throw PackError(fmt::format("{} ends at {}, past the end of the row: slots = {}", last, end, *slots));
  }
  return *slots;
}

}  // namespace

Pack from_lengths(std::span<const std::int64_t> lengths, std::optional<std::int64_t> slots) {
  Pack pack;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    check_not_negative("lengths", i, lengths[i]);
    const std::int64_t start = end;
    end = checked_add(start, lengths[i], fmt::format("sum of lengths[0] to lengths[{}]", i));
    if (lengths[i] > 0) pack.documents.push_back({start, lengths[i]});
  }
  pack.slots = row_slots(slots, end, fmt::format("the last of {} documents", lengths.size()));
  return pack;
}

Pack from_cu_seqlens(std::span<const std::int64_t> cu_seqlens, std::optional<std::int64_t> slots) {
  if (cu_seqlens.empty()) {
    throw PackError("cu_seqlens is empty: it must hold a 0 and then the end of each document");
  }
  if (cu_seqlens[0] != 0) {
    throw PackError(fmt::format("cu_seqlens[0] = {}: the first entry must be 0", cu_seqlens[0]));
  }
  Pack pack;
  for (std::size_t i = 1; i < cu_seqlens.size(); ++i) {
    const std::int64_t start = cu_seqlens[i - 1];
    const std::int64_t end = cu_seqlens[i];
    if (end < start) {
      throw PackError(
          fmt::format("cu_seqlens[{}] = {} is smaller than cu_seqlens[{}] = {}: must not decrease", i, end,
                      i - 1, start));
    }
    if (end > start) pack.documents.push_back({start, end - start});
  }
  pack.slots = row_slots(slots, cu_seqlens.back(),
                         fmt::format("cu_seqlens[{}] (the terminal entry)", cu_seqlens.size() - 1));
  return pack;
}

Pack from_starts(std::span<const std::int64_t> starts, std::span<const std::int64_t> lengths,
                 std::optional<std::int64_t> slots) {
  if (starts.size() != lengths.size()) {
    throw PackError(fmt::format("{} starts but {} lengths: each document has one of both", starts.size(),
                                lengths.size()));
  }
  Pack pack;
  std::int64_t previous_end = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    check_not_negative("starts", i, starts[i]);
    check_not_negative("lengths", i, lengths[i]);
    if (starts[i] < previous_end) {
      throw PackError(fmt::format(
          "starts[{}] = {} lies before {}, the end of document {}: must be ascending and must not "
          "overlap",
          i, starts[i], previous_end, i - 1));
    }
    previous_end = checked_add(starts[i], lengths[i], fmt::format("starts[{}] + lengths[{}]", i, i));
    if (lengths[i] > 0) pack.documents.push_back({starts[i], lengths[i]});
  }
  pack.slots = row_slots(slots, previous_end, fmt::format("the last of {} documents", starts.size()));
  return pack;
}

Pack from_document_ids(std::span<const std::int64_t> document_ids) {
  Pack pack;
  pack.slots = static_cast<std::int64_t>(document_ids.size());
  std::unordered_map<std::int64_t, std::int64_t> end_of;  // document id -> slot after its last token
  for (std::int64_t slot = 0; slot < pack.slots; ++slot) {
    const std::int64_t id = document_ids[slot];
    if (id == 0) continue;
    const bool after_padding = slot > 0 && document_ids[slot - 1] == 0;
    if (after_padding) {
      throw PackError(fmt::format(
          "document_ids[{}] = {} follows padding: padding (0) must be a tail; use starts and lengths for a "
          "pack with gaps",
          slot, id));
    }
    const bool starts_here = slot == 0 || document_ids[slot - 1] != id;
    if (starts_here) {
      const auto [earlier, is_new] = end_of.try_emplace(id, slot);
      if (!is_new) {
        throw PackError(fmt::format(
            "document_ids[{}] = {} comes back: that document ended before index {}; each document is one run",
            slot, id, earlier->second));
      }
      pack.documents.push_back({slot, 0});
    }
    ++pack.documents.back().length;
    if (slot + 1 == pack.slots || document_ids[slot + 1] != id) end_of[id] = slot + 1;
  }
  return pack;
}

Pack from_document_ids(std::span<const std::int64_t> document_ids, std::span<const std::int64_t> shape) {
  const bool is_row = shape.size() == 1 || (shape.size() == 2 && shape[0] == 1);
  if (!is_row) {
    throw PackError(fmt::format("document_ids of shape [{}]: must be [slots] or [1, slots], one row",
                                fmt::join(shape, ", ")));
  }
  if (shape.back() != static_cast<std::int64_t>(document_ids.size())) {
    throw PackError(fmt::format("document_ids of shape [{}] holds {} values", fmt::join(shape, ", "),
                                document_ids.size()));
  }
  return from_document_ids(document_ids);
}

Pack from_position_ids(std::span<const std::int64_t> position_ids, std::optional<std::int64_t> real_tokens) {
  Pack pack;
  pack.slots = static_cast<std::int64_t>(position_ids.size());
  const std::int64_t real = real_tokens.value_or(pack.slots);
  if (real < 0 || real > pack.slots) {
    throw PackError(
        fmt::format("real_tokens = {}: must lie in [0, {}], the slots of position_ids", real, pack.slots));
  }
  for (std::int64_t slot = 0; slot < real; ++slot) {
    const std::int64_t position = position_ids[slot];
    if (position == 0) {
      pack.documents.push_back({slot, 1});
    } else if (slot == 0) {
      throw PackError(fmt::format(
          "position_ids[0] = {}: must start at 0; this is one rank's shard, not the whole pack", position));
    } else if (position == pack.documents.back().length) {
      ++pack.documents.back().length;
    } else {
      throw PackError(fmt::format(
          "position_ids[{}] = {} follows {}: must restart at 0 or rise by one; this is one rank's shard, not "
          "the whole pack, or shards in another order",
          slot, position, pack.documents.back().length - 1));
    }
  }
  return pack;
}

void check_validity_mask(const Pack& pack, std::span<const std::int64_t> mask) {
  if (pack.documents.size() > 1) {
    throw PackError(
        fmt::format("a validity mask was given for a pack of {} documents: it can't tell them apart and "
                    "would merge them; "
                    "leave it out, the documents say what is real",
                    pack.documents.size()));
  }
  if (static_cast<std::int64_t>(mask.size()) != pack.slots) {
    throw PackError(
        fmt::format("the validity mask has {} entries, the pack {} slots", mask.size(), pack.slots));
  }
  for (std::int64_t slot = 0; slot < pack.slots; ++slot) {
    const bool real =
        !pack.documents.empty() && slot >= pack.documents[0].start && slot < pack.documents[0].end();
    if (mask[slot] != (real ? 1 : 0)) {
      throw PackError(fmt::format("validity mask[{}] = {} contradicts the pack: slot {} is {}, due is {}",
                                  slot, mask[slot], slot, real ? "real" : "padding", real ? 1 : 0));
    }
  }
}

}  // namespace straddle::pack
