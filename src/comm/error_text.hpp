// Parts of error messages that all transports word alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "comm/op_kind.hpp"

namespace straddle::comm {

// `rank 1: all_gather "K/V forward"`
[[nodiscard]] std::string operation_text(int rank, OpKind kind, std::string_view what);

// `<operation>: rank 2 sent 16 bytes, 24 were expected; ..`
[[nodiscard]] std::string other_size_text(std::string_view operation, int from, std::size_t sent_bytes,
                                          std::size_t expected_bytes);

// "rank 3" or "ranks 0, 3"
[[nodiscard]] std::string ranks_text(const std::vector<int>& ranks);

}  // namespace straddle::comm
