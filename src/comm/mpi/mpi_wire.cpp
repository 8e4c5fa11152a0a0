#include "comm/mpi/mpi_wire.hpp"

#include <fmt/format.h>

#include "comm/error_text.hpp"
#include "comm/errors.hpp"
#include "comm/mpi/requests.hpp"
#include "comm/mpi/wait.hpp"

namespace straddle::comm {
namespace {

class MpiWire final : public Wire {
 public:
  MpiWire(const Communicator& communicator, MpiHealth& health, const MpiWireOptions& options)
      : communicator_(communicator), health_(health), options_(options) {}

  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }

  void exchange(const Round& round) override {
    try {
      RoundRequests requests(communicator_.get(), operation_text(rank(), round.kind, round.what),
                             options_.max_message_bytes);
      requests.start(round);
      requests.wait(options_.deadline);
    } catch (...) {
      health_.failed = true;
      throw;
    }
  }

  void reduce_scatter_sum(std::string_view what, tensor::DType dtype, std::span<const std::byte> send,
                          std::span<std::byte> recv) override {
    const auto elements = static_cast<std::int64_t>(recv.size() / tensor::size_bytes(dtype));
    const std::string operation = operation_text(rank(), OpKind::reduce_scatter, what);
    const int count = reduction_count(operation, elements, size());
    agree_on_size(what, recv.size());
    const MPI_Datatype type = dtype == tensor::DType::fp64 ? MPI_DOUBLE : MPI_FLOAT;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Ireduce_scatter_block(send.data(), recv.data(), count, type, MPI_SUM, communicator_.get(),
                                         &request);
    const auto done = [&] {
      int flag = 0;
      if (code == MPI_SUCCESS) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      return flag != 0 || code != MPI_SUCCESS;
    };
    const bool in_time = wait_until(done, send.size(), options_.deadline);
    if (in_time && code == MPI_SUCCESS) return;
    health_.failed = true;
    if (!in_time) {
      throw HangError(operation +
                      ": the deadline passed inside MPI_Ireduce_scatter_block, which all ranks began");
    }
    throw CommError(fmt::format("{}: MPI_Ireduce_scatter_block failed: {}", operation, mpi_error_text(code)));
  }

 private:
  // The library's reduction takes the sizes of others for its own and may read past its buffers where they
  // differ, so every rank hears every size first. Also, a rank that is elsewhere is noticed here, where a
  // wait can be given up.
  void agree_on_size(std::string_view what, std::size_t bytes) {
    const std::uint64_t mine = bytes;
    std::vector<std::uint64_t> theirs(size());  // [size]: recv bytes by rank
    Round round{OpKind::reduce_scatter, what, {}, {}};
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      round.sends.push_back({peer, std::as_bytes(std::span(&mine, 1))});
      round.receives.push_back({peer, std::as_writable_bytes(std::span(theirs).subspan(peer, 1))});
    }
    exchange(round);
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank() || theirs[peer] == mine) continue;
      health_.failed = true;
      throw CommError(
          other_size_text(operation_text(rank(), OpKind::reduce_scatter, what), peer, theirs[peer], bytes));
    }
  }

  const Communicator& communicator_;
  MpiHealth& health_;
  MpiWireOptions options_;
};

}  // namespace

std::unique_ptr<Wire> mpi_wire(const Communicator& communicator, MpiHealth& health,
                               const MpiWireOptions& options) {
  return std::make_unique<MpiWire>(communicator, health, options);
}

}  // namespace straddle::comm
