#include "comm/threads/thread_wire.hpp"

#include <algorithm>

#include "comm/error_text.hpp"
#include "comm/errors.hpp"

namespace straddle::comm {
namespace {

class ThreadWire final : public Wire {
 public:
  ThreadWire(Hub& hub, const ThreadSeat& seat, const Deadline* deadline)
      : hub_(hub), seat_(seat), deadline_(deadline) {}

  int rank() const override { return seat_.rank; }
  int size() const override { return seat_.size; }

  // Messages are buffered, so all sends come first and none blocks; receives go in rank order, so the first
  // rank whose size is wrong is the one that is named, in every run.
  void exchange(const Round& round) override {
    for (const auto& [to, bytes] : round.sends) {
      hub_.post({seat_.group, rank(), to, round.kind},
                {std::vector<std::byte>(bytes.begin(), bytes.end()), std::string(round.what)});
    }
    for (const auto& [from, bytes] : round.receives) {
      const Message message = hub_.receive({seat_.group, from, rank(), round.kind}, round.what, deadline_);
      if (message.bytes.size() != bytes.size()) refuse(round, from, message, bytes.size());
      std::copy(message.bytes.begin(), message.bytes.end(), bytes.begin());
    }
  }

  void reduce_scatter_sum(std::string_view what, tensor::DType dtype, std::span<const std::byte> send,
                          std::span<std::byte> recv) override {
    sum_in_rank_order(*this, what, dtype, send, recv);
  }

 private:
  [[noreturn]] void refuse(const Round& round, int from, const Message& message, std::size_t expected) const {
    std::string text =
        other_size_text(operation_text(rank(), round.kind, round.what), from, message.bytes.size(), expected);
    if (message.what != round.what) text += "; it was sent for \"" + message.what + "\"";
    throw CommError(text);
  }

  Hub& hub_;
  ThreadSeat seat_;
  const Deadline* deadline_;
};

}  // namespace

std::unique_ptr<Wire> thread_wire(Hub& hub, const ThreadSeat& seat, const Deadline* deadline) {
  return std::make_unique<ThreadWire>(hub, seat, deadline);
}

}  // namespace straddle::comm
