#include "harness/cli/launch.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace straddle::harness {

bool uses_mpi(const Launch& launch) {
  return launch.transport == TransportChoice::mpi ||
         (launch.transport == TransportChoice::automatic && comm::started_by_mpi());
}

int launch(const Launch& launch, const std::function<int(comm::World&)>& body) {
  if (uses_mpi(launch)) {
    const auto world = comm::mpi_world();
    if (launch.ranks != 0 && launch.ranks != world->size()) {
      throw UsageError(
          fmt::format("--ranks {} but the launcher started {}: leave --ranks out, or start as many",
                      launch.ranks, world->size()));
    }
    return body(*world);
  }
  const std::int64_t ranks = launch.ranks == 0 ? kDefaultThreads : launch.ranks;
  if (ranks < 1 || ranks > kMaxThreads) {
    throw UsageError(fmt::format("--ranks {}: as threads, 1 to {} ranks can run", ranks, kMaxThreads));
  }
  int code = 0;
  comm::run_threads(static_cast<int>(ranks), [&](comm::World& world) {
    const int mine = body(world);
    if (world.rank() == 0) code = mine;
  });
  return code;
}

bool speaks_before_ranks_meet() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* rank = std::getenv(variable);
    if (rank != nullptr) return std::string_view(rank) == "0";
  }
  return true;
}

}  // namespace straddle::harness
