#include "comm/mpi/launcher.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace straddle::comm {
namespace {

bool started_with(const std::map<std::string, std::string>& variables) {
  return started_by_mpi([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST_CASE("started_by_mpi: any launcher's variable, with any number of ranks") {
  CHECK(started_with({{"OMPI_COMM_WORLD_SIZE", "1"}}));
  CHECK(started_with({{"MPI_LOCALRANKID", "0"}}));
  CHECK(started_with({{"PMIX_RANK", "3"}}));
  CHECK(started_with({{"PMI_RANK", "0"}}));
  CHECK(started_with({{"PMI_SIZE", "4"}}));
  CHECK(started_with({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "2"}, {"SLURM_MPI_TYPE", "openmpi"}}));
}

TEST_CASE("started_by_mpi: no launcher, or a scheduler that launched no ranks") {
  CHECK_FALSE(started_with({}));
  CHECK_FALSE(started_with({{"PATH", "/usr/bin"}, {"OMPI_MCA_btl", "self"}}));
  CHECK_FALSE(started_with({{"SLURM_JOB_ID", "7"}, {"SLURM_MPI_TYPE", "pmix"}}));  // salloc
  CHECK_FALSE(started_with({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "2"}}));      // srun of a plain program
  CHECK_FALSE(started_with({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "2"}, {"SLURM_MPI_TYPE", "none"}}));
}

TEST_CASE("started_by_mpi: the shell of an allocation is no rank, but a launcher in it starts ranks") {
  std::map<std::string, std::string> shell{{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "4294967290"},
                                           {"SLURM_PROCID", "0"}, {"PMIX_RANK", "0"},
                                           {"PMI_RANK", "0"},     {"SLURM_MPI_TYPE", "pmix"}};
  CHECK_FALSE(started_with(shell));
  shell["OMPI_COMM_WORLD_SIZE"] = "2";
  CHECK(started_with(shell));
}

}  // namespace
}  // namespace straddle::comm
