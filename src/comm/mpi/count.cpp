#include "comm/mpi/count.hpp"

#include <fmt/format.h>

#include <limits>

#include "comm/errors.hpp"

namespace straddle::comm {

std::size_t message_parts(std::size_t bytes, std::size_t limit) {
  return bytes == 0 ? 1 : (bytes - 1) / limit + 1;
}

int reduction_count(std::string_view operation, std::int64_t part_elements, int ranks) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  if (part_elements > kMax / ranks) {
    throw CommError(
        fmt::format("{}: {} ranks x {} elements are more than the {} that MPI can count; use the ordered "
                    "reduction (all_to_all_v and a sum), or smaller parts",
                    operation, ranks, part_elements, kMax));
  }
  return static_cast<int>(part_elements);
}

}  // namespace straddle::comm
