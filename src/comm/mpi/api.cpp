#include "comm/mpi/api.hpp"

#include <fmt/format.h>

#include <array>

#include "comm/errors.hpp"

namespace straddle::comm {

std::string mpi_error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return fmt::format("MPI error {}", code);
  return {text.data(), static_cast<std::size_t>(length)};
}

void check_mpi(int code, std::string_view call) {
  if (code != MPI_SUCCESS) throw CommError(fmt::format("{} failed: {}", call, mpi_error_text(code)));
}

}  // namespace straddle::comm
