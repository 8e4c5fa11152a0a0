// The messages of one round under way.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "comm/mpi/api.hpp"
#include "comm/wire.hpp"
#include "comm/world.hpp"

namespace straddle::comm {

// Starts all messages of a round, waits for them and checks what arrived. `operation` is for messages of
// errors, all of which are CommError.
class RoundRequests {
 public:
  RoundRequests(MPI_Comm comm, std::string operation, std::size_t max_message_bytes);

  void start(const Round& round);
  // HangError, naming the ranks that are waited for, when the deadline passes.
  void wait(const Deadline* deadline);

 private:
  struct Part {
    int peer;
    std::size_t bytes;
    bool is_receive;
  };

  void start_receive(const Incoming& incoming, int tag);
  void start_send(const Outgoing& outgoing, int tag);
  void started(int code, std::string_view call, int peer) const;
  void check(const Part& part, MPI_Status& status) const;
  [[nodiscard]] std::string unfinished() const;
  void give_up() noexcept;

  MPI_Comm comm_;
  std::string operation_;
  std::size_t max_message_bytes_;
  std::vector<Part> parts_;
  std::vector<MPI_Request> requests_;  // [parts]
};

}  // namespace straddle::comm
