// The descriptions of a pack that people have, each turned into the canonical Pack. Zero-length documents are
// accepted and vanish.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "pack/pack.hpp"

namespace straddle::pack {

// slots: length of the row; without a value it ends with the last document. All throw PackError naming the
// index and the rule.

// lengths [documents], each >= 0; their sum must not exceed slots nor overflow.
[[nodiscard]] Pack from_lengths(std::span<const std::int64_t> lengths,
                                std::optional<std::int64_t> slots = {});

// cu_seqlens [documents + 1]: from 0, not decreasing, last entry <= slots.
[[nodiscard]] Pack from_cu_seqlens(std::span<const std::int64_t> cu_seqlens,
                                   std::optional<std::int64_t> slots = {});

// The gapped form: document i is slots [starts[i], starts[i] + lengths[i]); ascending, not overlapping,
// inside slots.
[[nodiscard]] Pack from_starts(std::span<const std::int64_t> starts, std::span<const std::int64_t> lengths,
                               std::optional<std::int64_t> slots = {});

// document_ids [slots], 0 = padding, any other value a document; padding must be a tail and no id may come
// back later.
[[nodiscard]] Pack from_document_ids(std::span<const std::int64_t> document_ids);

// document_ids given with a shape: [slots] or [1, slots]; anything else is refused.
[[nodiscard]] Pack from_document_ids(std::span<const std::int64_t> document_ids,
                                     std::span<const std::int64_t> shape);

// position_ids [slots] of the whole pack: a document starts at every 0, inside a document positions rise by
// one. A list that does not start at 0 is refused ("one rank's shard, not the whole pack"). Padding can't be
// told from positions, so the caller says where the real tokens end; what stands after that is ignored.
[[nodiscard]] Pack from_position_ids(std::span<const std::int64_t> position_ids,
                                     std::optional<std::int64_t> real_tokens = {});

// A validity mask [slots], 1 = real, says nothing about document boundaries: refused where the pack has
// several documents, and where it contradicts the pack.
void check_validity_mask(const Pack& pack, std::span<const std::int64_t> mask);

}  // namespace straddle::pack
