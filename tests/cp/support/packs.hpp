// Packs for tests: every small one, and those that the docs and reports name.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pack/describe.hpp"
#include "pack/pack.hpp"

namespace straddle::cp::testing {

// documents end to end from slot 0, then `padding` slots, then as many more as W needs.
[[nodiscard]] pack::Pack pack_of(const std::vector<std::int64_t>& documents, std::int64_t padding,
                                 std::int64_t ranks);

// Calls visit(pack) for every pack of `slots` slots: all compositions of 0 to `slots` tokens into documents,
// the rest padding.
void for_every_pack(std::int64_t slots, const std::function<void(const pack::Pack&)>& visit);

// Calls visit(pack) for every gapped pack of `slots` slots: each slot is padding, a document's first row, or
// the row after the one before it.
void for_every_gapped_pack(std::int64_t slots, const std::function<void(const pack::Pack&)>& visit);

// Document of each slot, -1 for padding: the definition that everything else is compared with.
[[nodiscard]] std::vector<std::int64_t> document_of_slots(const pack::Pack& pack);

}  // namespace straddle::cp::testing
