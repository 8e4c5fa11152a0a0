#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "comm/errors.hpp"
#include "comm/mpi/communicator.hpp"
#include "comm/mpi/mpi_wire.hpp"
#include "comm/mpi/placement.hpp"
#include "comm/mpi/session.hpp"
#include "comm/world.hpp"

namespace straddle::comm {
namespace {

// group(n) on one rank: nothing where rank >= n.
struct Group {
  std::optional<Communicator> communicator;
  std::unique_ptr<Transport> transport;
};

class MpiWorld final : public World {
 public:
  MpiWorld()
      : control_communicator_(Communicator::duplicate(MPI_COMM_WORLD)),
        control_(transport_over(mpi_wire(control_communicator_, health_, {}))),
        placement_(find_placement(control_communicator_, *control_)) {}

  // When not all ranks come here in good order, nothing may wait for them or touch messages still under way.
  ~MpiWorld() override {
    if (!health_.failed && !session_.is_unwinding()) return;
    session_.abandon();
    control_communicator_.abandon();
    for (auto& [n, group] : groups_) {
      if (group.communicator) group.communicator->abandon();
    }
  }

  int rank() const override { return control_communicator_.rank(); }
  int size() const override { return control_communicator_.size(); }
  std::string_view name() const override { return "mpi"; }
  std::vector<std::string> hosts() const override { return placement_.hosts; }
  std::vector<int> nodes() const override { return placement_.nodes; }

  Transport& control() override { return *control_; }

  Transport* group(int n) override {
    if (n < 1 || n > size()) {
      throw CommError(
          fmt::format("rank {}: a group of {} ranks was asked for, expected 1 to {}", rank(), n, size()));
    }
    const auto found = groups_.find(n);
    if (found != groups_.end()) return found->second.transport.get();
    // MPI_Comm_split spins: so all ranks meet here first, where they sleep.
    control_->barrier(fmt::format("make the group of {}", n));
    Group& group = groups_[n];
    group.communicator = control_communicator_.first_ranks(n);
    if (group.communicator) {
      group.transport = transport_over(mpi_wire(*group.communicator, health_, {.deadline = &deadline_}));
    }
    return group.transport.get();
  }

  void set_deadline(const Deadline& deadline) override { deadline_ = deadline; }

  bool recover() override { return false; }

  void abort(int exit_code) override {
    MPI_Abort(control_communicator_.get(), exit_code);
    std::_Exit(exit_code);  // not reached where MPI_Abort does its work
  }

 private:
  MpiSession session_;
  MpiHealth health_;
  Deadline deadline_;
  Communicator control_communicator_;
  std::unique_ptr<Transport> control_;
  Placement placement_;
  std::map<int, Group> groups_;  // a node-based map: wires point to the communicators in it
};

}  // namespace

std::unique_ptr<World> mpi_world() { return std::make_unique<MpiWorld>(); }

}  // namespace straddle::comm
