#include "comm/mpi/launcher.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "comm/world.hpp"

namespace straddle::comm {
namespace {

// Slurm numbers steps from 0; the batch script and the interactive shell have numbers from this one on.
constexpr std::uint64_t kFirstReservedStep = 0xfffffff0;

bool is_allocation_shell(const char* step) {
  return step != nullptr && std::strtoull(step, nullptr, 10) >= kFirstReservedStep;
}

bool is_slurm_mpi_step(const Environment& environment) {
  const char* type = environment("SLURM_MPI_TYPE");
  return environment("SLURM_PROCID") != nullptr && environment("SLURM_STEP_ID") != nullptr &&
         type != nullptr && *type != '\0' && std::string_view(type) != "none";
}

}  // namespace

bool started_by_mpi(const Environment& environment) {
  const auto is_set = [&](const char* name) { return environment(name) != nullptr; };
  if (is_set("OMPI_COMM_WORLD_SIZE") || is_set("MPI_LOCALRANKID")) return true;
  if (is_allocation_shell(environment("SLURM_STEP_ID"))) return false;
  return is_set("PMIX_RANK") || is_set("PMI_RANK") || is_set("PMI_SIZE") || is_slurm_mpi_step(environment);
}

bool started_by_mpi() {
  return started_by_mpi([](const char* name) { return std::getenv(name); });
}

}  // namespace straddle::comm
