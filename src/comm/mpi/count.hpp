// MPI counts are int, sizes are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace straddle::comm {

// The longest single MPI message; longer ones travel in parts. Below INT_MAX, and a multiple of a page.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{1} << 30;

// Messages that `bytes` travel in, each of at most `limit`: at least one, since an empty message is sent too.
[[nodiscard]] std::size_t message_parts(std::size_t bytes, std::size_t limit);

// The element count of a reduction over `ranks` parts of `part_elements`. The library's reduce-scatter can't
// be cut into parts and multiplies in int, so a product above INT_MAX is refused with a CommError; sizes are
// equal on all ranks, so all refuse alike, before any communication.
[[nodiscard]] int reduction_count(std::string_view operation, std::int64_t part_elements, int ranks);

}  // namespace straddle::comm
