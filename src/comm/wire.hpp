// What a Transport is made of: one round of messages between the ranks of a group.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "comm/op_kind.hpp"
#include "comm/transport.hpp"
#include "tensor/dtype.hpp"

namespace straddle::comm {

struct Outgoing {
  int to;
  std::span<const std::byte> bytes;
};

struct Incoming {
  int from;
  std::span<std::byte> bytes;
};

// All messages of one operation on one rank, to and from others. An empty message is a message too: who waits
// for it waits until it was sent.
struct Round {
  OpKind kind;
  std::string_view what;
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
};

class Wire {
 public:
  virtual ~Wire() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // Returns when all receives are complete and all send buffers may be reused. Messages match by (source,
  // destination, kind), in the order they were sent: another kind is never received, another size is a
  // CommError. HangError as in Transport.
  virtual void exchange(const Round& round) = 0;

  // As in Transport, whose checks are passed.
  virtual void reduce_scatter_sum(std::string_view what, tensor::DType dtype, std::span<const std::byte> send,
                                  std::span<std::byte> recv) = 0;
};

// Every operation in a single round, since a round's latency is a sleeping peer's: a rank sends to all others
// at once and depends on no rank that only passes data on. Checks arguments before any byte moves.
[[nodiscard]] std::unique_ptr<Transport> transport_over(std::unique_ptr<Wire> wire);

// reduce_scatter_sum by an exchange and additions in rank order: the same bits in every run.
void sum_in_rank_order(Wire& wire, std::string_view what, tensor::DType dtype,
                       std::span<const std::byte> send, std::span<std::byte> recv);

}  // namespace straddle::comm
