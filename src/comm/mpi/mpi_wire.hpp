// The wire between ranks that are MPI processes.
#pragma once

#include <cstddef>
#include <memory>

#include "comm/mpi/communicator.hpp"
#include "comm/mpi/count.hpp"
#include "comm/wire.hpp"
#include "comm/world.hpp"

namespace straddle::comm {

// What one rank's wires share.
struct MpiHealth {
  // An operation failed: messages may be under way for ever, so the run has to end without waiting for peers.
  bool failed = false;
};

struct MpiWireOptions {
  const Deadline* deadline = nullptr;  // null: none, ever
  std::size_t max_message_bytes = kMaxMessageBytes;
};

// Rounds are MPI_Irecv and MPI_Isend, all posted at once, with the operation's kind as tag; sums are
// MPI_Ireduce_scatter_block, in the library's own order. `communicator`, `health` and the deadline must
// outlive the wire.
//
// After a HangError, receives are cancelled as far as the library can, sends are left alone: a peer may still
// take them from their buffers, so keep these and end the run.
[[nodiscard]] std::unique_ptr<Wire> mpi_wire(const Communicator& communicator, MpiHealth& health,
                                             const MpiWireOptions& options);

}  // namespace straddle::comm
