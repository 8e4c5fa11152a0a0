// Which MPI library this is.
#pragma once

#include <string>

namespace straddle::comm {

[[nodiscard]] std::string mpi_version();  // "Open MPI 4.1.4"; may be called before MPI is initialised

}  // namespace straddle::comm
