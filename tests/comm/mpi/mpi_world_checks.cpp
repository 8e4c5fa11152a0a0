// mpi_world_checks RANKS: the checks of all transports, over the processes that mpirun started. Any rank's
// failure ends all of them with exit code 1.
#include <cstdio>
#include <cstdlib>

#include "comm/mpi/mpi_wire.hpp"
#include "comm/recorder.hpp"
#include "comm/world.hpp"
#include "expect.hpp"
#include "transport_checks.hpp"

namespace straddle::comm {
namespace {

// Longer messages travel in parts, as those over kMaxMessageBytes do.
void check_messages_in_parts() {
  const Communicator communicator = Communicator::duplicate(MPI_COMM_WORLD);
  MpiHealth health;
  check_transport(*transport_over(mpi_wire(communicator, health, {.max_message_bytes = 1000})));
  check_big_messages(*transport_over(mpi_wire(communicator, health, {.max_message_bytes = 3'000'000})));
  expect(!health.failed, "no failed operation");
}

void check_recorder(World& world) {
  Recorder recorder;
  const auto transport = record(*world.group(world.size()), recorder);
  std::vector<std::byte> mine(100), all(100 * world.size());
  transport->all_gather("K/V forward", mine, all);
  transport->barrier("end");
  expect(recorder.sent_bytes("K/V forward") == 100 * (world.size() - 1), "100 bytes to each other rank");
  std::uint64_t hash = recorder.sequence_hash();
  world.control().all_reduce_max("hash", std::span(&hash, 1));
  expect(hash == recorder.sequence_hash(), "the same sequence on all ranks");
}

void check_errors_are_returned() {
  const Communicator communicator = Communicator::duplicate(MPI_COMM_WORLD);
  const std::string text = message_of<CommError>("no such rank", [&] {
    check_mpi(MPI_Send(nullptr, 0, MPI_BYTE, communicator.size(), 0, communicator.get()), "MPI_Send");
  });
  expect_contains(text, "MPI_Send failed: MPI_ERR_RANK");
}

void check_all(World& world, int ranks) {
  expect(world.size() == ranks && world.name() == "mpi", "{} ranks of MPI, got {}", ranks, world.size());
  expect(started_by_mpi(), "mpirun's environment to be known");
  expect(!world.recover(), "no recovery under MPI");
  check_world(world);
  check_messages_in_parts();
  check_recorder(world);
  check_errors_are_returned();
  const auto again = mpi_world();  // a second one, on its own communicators, leaves MPI to the first
  again->control().barrier("second world");
}

}  // namespace
}  // namespace straddle::comm

int main(int argc, char** argv) {
  using namespace straddle::comm;
  const auto world = mpi_world();
  try {
    check_all(*world, argc == 2 ? std::atoi(argv[1]) : 0);
    world->control().barrier("all checks passed");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", world->rank(), error.what());
    world->abort(1);
  }
  if (world->rank() == 0) std::printf("all checks passed on %d ranks\n", world->size());
  return 0;
}
