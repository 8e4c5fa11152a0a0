// Who the ranks are, and the transports between them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/transport.hpp"

namespace straddle::comm {

// How long operations of the transport under test may take; none means for ever. One object a rank, set anew
// for each case.
struct Deadline {
  std::optional<std::chrono::steady_clock::time_point> at;
};

// One rank's view of all ranks. Every rank calls the collective members in the same order.
class World {
 public:
  virtual ~World() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual std::string_view name() const = 0;           // "threads", "mpi"
  [[nodiscard]] virtual std::vector<std::string> hosts() const = 0;  // [size]: where each rank really runs
  // [size]: index of each rank's node (shared memory domain), counted by lowest rank.
  [[nodiscard]] virtual std::vector<int> nodes() const = 0;

  // For gathering results and verdicts: its own communicator, never the one under test; no deadline.
  [[nodiscard]] virtual Transport& control() = 0;

  // The transport under test between the first n ranks; null on the others, who don't wait for anything. A
  // duplicate made once for each n, collectively over all ranks at the first call for that n. Owned by the
  // world.
  [[nodiscard]] virtual Transport* group(int n) = 0;

  // Used by all operations of group() on this rank from now on.
  virtual void set_deadline(const Deadline& deadline) = 0;

  // After a HangError or a CommError on any rank: brings group(n) back to a clean state, on all ranks
  // together (collective over control). False when this world can't (mpi): the run has to end.
  [[nodiscard]] virtual bool recover() = 0;

  // Ends all processes at once with this exit code, for when ranks can no longer meet. Threads: throws
  // HangError.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

// The ranks of MPI_COMM_WORLD. Calls MPI_Init_thread (funneled) if nobody did; MPI_Finalize on destruction if
// it did the former. Waits test and sleep with growing pauses. MPI errors become CommError.
[[nodiscard]] std::unique_ptr<World> mpi_world();

// True when this process was started by an MPI launcher (environment of Open MPI, PMIx, PMI, Slurm) with any
// number of ranks.
[[nodiscard]] bool started_by_mpi();

// Runs body(world) on `ranks` threads of this process, one a rank, and waits for all. A hang (every thread
// blocked in an operation that no other can complete) is seen at once: all that are blocked in group() throw
// HangError. The first exception by rank order that leaves a body is rethrown when all have ended.
void run_threads(int ranks, const std::function<void(World&)>& body);

// A group of one: every operation is a copy. For W = 1 runs beside a larger world.
[[nodiscard]] std::unique_ptr<Transport> self_transport();

}  // namespace straddle::comm
