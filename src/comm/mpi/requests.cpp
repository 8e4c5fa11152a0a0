#include "comm/mpi/requests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/error_text.hpp"
#include "comm/errors.hpp"
#include "comm/mpi/count.hpp"
#include "comm/mpi/wait.hpp"

namespace straddle::comm {

RoundRequests::RoundRequests(MPI_Comm comm, std::string operation, std::size_t max_message_bytes)
    : comm_(comm), operation_(std::move(operation)), max_message_bytes_(max_message_bytes) {}

// Receives first, so that what arrives has a place to go.
void RoundRequests::start(const Round& round) {
  const int tag = static_cast<int>(round.kind);
  for (const Incoming& incoming : round.receives) start_receive(incoming, tag);
  for (const Outgoing& outgoing : round.sends) start_send(outgoing, tag);
}

void RoundRequests::start_receive(const Incoming& incoming, int tag) {
  std::span<std::byte> rest = incoming.bytes;
  for (std::size_t left = message_parts(rest.size(), max_message_bytes_); left > 0; --left) {
    const std::span<std::byte> part = rest.first(std::min(rest.size(), max_message_bytes_));
    rest = rest.subspan(part.size());
    MPI_Request request = MPI_REQUEST_NULL;
    started(
        MPI_Irecv(part.data(), static_cast<int>(part.size()), MPI_BYTE, incoming.from, tag, comm_, &request),
        "MPI_Irecv", incoming.from);
    requests_.push_back(request);
    parts_.push_back({incoming.from, part.size(), true});
  }
}

void RoundRequests::start_send(const Outgoing& outgoing, int tag) {
  std::span<const std::byte> rest = outgoing.bytes;
  for (std::size_t left = message_parts(rest.size(), max_message_bytes_); left > 0; --left) {
    const std::span<const std::byte> part = rest.first(std::min(rest.size(), max_message_bytes_));
    rest = rest.subspan(part.size());
    MPI_Request request = MPI_REQUEST_NULL;
    started(
        MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, outgoing.to, tag, comm_, &request),
        "MPI_Isend", outgoing.to);
    requests_.push_back(request);
    parts_.push_back({outgoing.to, part.size(), false});
  }
}

void RoundRequests::started(int code, std::string_view call, int peer) const {
  if (code == MPI_SUCCESS) return;
  throw CommError(fmt::format("{}: {} (rank {}) failed: {}", operation_, call, peer, mpi_error_text(code)));
}

void RoundRequests::wait(const Deadline* deadline) {
  const int count = static_cast<int>(requests_.size());
  std::vector<MPI_Status> statuses(requests_.size());
  int code = MPI_SUCCESS;
  const auto all_done = [&] {
    int flag = 0;
    code = MPI_Testall(count, requests_.data(), &flag, statuses.data());
    return flag != 0 || code != MPI_SUCCESS;
  };
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes += part.bytes;
  if (!wait_until(all_done, bytes, deadline)) {
    const std::string text = unfinished();
    give_up();
    throw HangError(fmt::format("{}: the deadline passed: {}", operation_, text));
  }
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
    throw CommError(fmt::format("{}: MPI_Testall failed: {}", operation_, mpi_error_text(code)));
  }
  // MPI sets the error field of a status only if it says that there are errors.
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (code == MPI_SUCCESS) statuses[i].MPI_ERROR = MPI_SUCCESS;
    check(parts_[i], statuses[i]);
  }
}

void RoundRequests::check(const Part& part, MPI_Status& status) const {
  int error_class = MPI_SUCCESS;
  if (status.MPI_ERROR != MPI_SUCCESS) MPI_Error_class(status.MPI_ERROR, &error_class);
  if (error_class != MPI_SUCCESS && error_class != MPI_ERR_TRUNCATE) {
    throw CommError(fmt::format("{}: the message {} rank {} failed: {}", operation_,
                                part.is_receive ? "from" : "to", part.peer,
                                mpi_error_text(status.MPI_ERROR)));
  }
  if (!part.is_receive) return;
  int received = 0;
  MPI_Get_count(&status, MPI_BYTE, &received);
  const auto bytes = static_cast<std::size_t>(received);
  if (error_class == MPI_ERR_TRUNCATE || bytes != part.bytes) {
    throw CommError(other_size_text(operation_, part.peer, bytes, part.bytes));
  }
}

// Who is waited for: those whose message has not come, and those who did not take ours.
std::string RoundRequests::unfinished() const {
  std::vector<int> silent;
  std::vector<int> deaf;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    int done = 1;
    if (MPI_Request_get_status(requests_[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0) continue;
    std::vector<int>& ranks = parts_[i].is_receive ? silent : deaf;
    if (ranks.empty() || ranks.back() != parts_[i].peer) ranks.push_back(parts_[i].peer);
  }
  std::vector<std::string> facts;
  if (!silent.empty()) facts.push_back("waits for a message from " + ranks_text(silent));
  if (!deaf.empty()) facts.push_back("its message was not taken by " + ranks_text(deaf));
  return fmt::format("{}", fmt::join(facts, "; "));
}

void RoundRequests::give_up() noexcept {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (parts_[i].is_receive) MPI_Cancel(&requests_[i]);
    MPI_Request_free(&requests_[i]);
  }
}

}  // namespace straddle::comm
