// Where a run's ranks come from: the launcher's processes, or threads of this one.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "comm/world.hpp"

namespace straddle::harness {

class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

enum class TransportChoice : std::uint8_t { automatic, threads, mpi };

struct Launch {
  TransportChoice transport = TransportChoice::automatic;  // mpi under a launcher, else threads
  std::int64_t ranks = 0;                                  // 0: the launcher's, or kDefaultThreads
};

inline constexpr std::int64_t kDefaultThreads = 8;
inline constexpr std::int64_t kMaxThreads = 256;

[[nodiscard]] bool uses_mpi(const Launch& launch);

// Calls body on every rank and returns rank 0's code (mpi: this rank's). Throws UsageError: threads under a
// launcher with several ranks, other ranks than the launcher started, too many threads.
int launch(const Launch& launch, const std::function<int(comm::World&)>& body);

// False on a launcher's ranks other than 0, by its environment: for messages before ranks can talk to each
// other.
[[nodiscard]] bool speaks_before_ranks_meet();

}  // namespace straddle::harness
