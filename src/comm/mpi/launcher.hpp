// Whether an MPI launcher started this process, from its environment alone: before MPI is initialised.
#pragma once

#include <functional>

namespace straddle::comm {

// The value of a variable, null if it is not set: getenv, or a stand-in for tests.
using Environment = std::function<const char*(const char* name)>;

// One of these is set:
//   OMPI_COMM_WORLD_SIZE   mpirun of Open MPI
//   MPI_LOCALRANKID        mpiexec of MPICH and Intel MPI (hydra)
//   PMIX_RANK              PRRTE, srun --mpi=pmix
//   PMI_RANK, PMI_SIZE     srun --mpi=pmi2, Cray
//   SLURM_PROCID           srun, if SLURM_MPI_TYPE names an MPI type other than none
// The last three don't count in the shell that sbatch or salloc opens, which Slurm itself runs as a step
// (with a reserved SLURM_STEP_ID) and may give them: whoever starts ranks from that shell sets one of the
// first two or, with srun, makes a step of his own.
[[nodiscard]] bool started_by_mpi(const Environment& environment);

}  // namespace straddle::comm
