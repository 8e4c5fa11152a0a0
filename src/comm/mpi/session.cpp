#include "comm/mpi/session.hpp"

#include <fmt/format.h>

#include "comm/errors.hpp"
#include "comm/mpi/api.hpp"

namespace straddle::comm {

MpiSession::MpiSession() {
  int finalized = 0;
  check_mpi(MPI_Finalized(&finalized), "MPI_Finalized");
  if (finalized != 0) {
    throw CommError(
        "MPI was finalised already and can't start again: make one MPI world for the whole process");
  }
  int initialized = 0;
  check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized != 0) return;
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  owns_ = true;
  if (provided < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    throw CommError(fmt::format("MPI offers thread level {}, expected MPI_THREAD_FUNNELED ({}) at least",
                                provided, MPI_THREAD_FUNNELED));
  }
}

MpiSession::~MpiSession() {
  if (owns_ && !is_unwinding()) MPI_Finalize();
}

}  // namespace straddle::comm
