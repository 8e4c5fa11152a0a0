#include "comm/mpi/placement.hpp"

#include <array>
#include <map>

namespace straddle::comm {
namespace {

std::vector<std::string> gather_hosts(Transport& control) {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME + 1>;  // ends with a 0
  Name mine{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(mine.data(), &length), "MPI_Get_processor_name");
  std::vector<Name> names(control.size());
  control.all_gather("host names", std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(names)));
  std::vector<std::string> hosts;
  for (const Name& name : names) hosts.emplace_back(name.data());
  return hosts;
}

// The node's rank 0 says who it is in the world.
int node_leader(const Communicator& communicator) {
  const Communicator node = communicator.node();
  int leader = communicator.rank();
  check_mpi(MPI_Bcast(&leader, 1, MPI_INT, 0, node.get()), "MPI_Bcast");
  return leader;
}

}  // namespace

Placement find_placement(const Communicator& communicator, Transport& control) {
  Placement placement{gather_hosts(control), {}};
  const int mine = node_leader(communicator);
  std::vector<int> leaders(control.size());
  control.all_gather("node leaders", std::as_bytes(std::span(&mine, 1)),
                     std::as_writable_bytes(std::span(leaders)));
  placement.nodes = number_nodes(leaders);
  return placement;
}

std::vector<int> number_nodes(std::span<const int> leaders) {
  std::map<int, int> number;  // leader -> node
  std::vector<int> nodes;
  for (const int leader : leaders) {
    nodes.push_back(number.try_emplace(leader, static_cast<int>(number.size())).first->second);
  }
  return nodes;
}

}  // namespace straddle::comm
