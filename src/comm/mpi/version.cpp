#include "comm/mpi/version.hpp"

#include <mpi.h>

#include <array>

namespace straddle::comm {

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown MPI";
  // Open MPI: "Open MPI v4.1.4, package: Debian OpenMPI, ..."
  std::string version(text.data(), static_cast<std::size_t>(length));
  version = version.substr(0, version.find_first_of(",\n"));
  const std::size_t v = version.find(" v");
  if (v != std::string::npos) version.erase(v + 1, 1);
  return version;
}

}  // namespace straddle::comm
