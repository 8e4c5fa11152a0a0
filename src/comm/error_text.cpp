#include "comm/error_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace straddle::comm {

std::string operation_text(int rank, OpKind kind, std::string_view what) {
  return fmt::format("rank {}: {} \"{}\"", rank, name(kind), what);
}

std::string other_size_text(std::string_view operation, int from, std::size_t sent_bytes,
                            std::size_t expected_bytes) {
  return fmt::format(
      "{}: rank {} sent {} bytes, {} were expected; the ranks disagree about a size, or are in different "
      "calls: "
      "compare their plans and operation logs",
      operation, from, sent_bytes, expected_bytes);
}

std::string ranks_text(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

}  // namespace straddle::comm
