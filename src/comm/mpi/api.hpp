// The C interface of MPI, without the C++ bindings that some libraries still bring along.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <string>
#include <string_view>

namespace straddle::comm {

// What the MPI library says about an error code.
[[nodiscard]] std::string mpi_error_text(int code);

// Throws CommError if `code`, the result of `call`, is an error.
void check_mpi(int code, std::string_view call);

}  // namespace straddle::comm
