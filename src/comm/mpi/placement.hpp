// Where ranks really run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/mpi/communicator.hpp"
#include "comm/transport.hpp"

namespace straddle::comm {

struct Placement {
  std::vector<std::string> hosts;  // [size]
  std::vector<int> nodes;          // [size]
};

// As MPI_Get_processor_name and MPI_Comm_split_type say on each rank. Collective over `control`, the
// transport over `communicator`.
[[nodiscard]] Placement find_placement(const Communicator& communicator, Transport& control);

// Node of each rank, counted from 0 by lowest rank; leaders [size]: the lowest rank on each rank's node.
[[nodiscard]] std::vector<int> number_nodes(std::span<const int> leaders);

}  // namespace straddle::comm
