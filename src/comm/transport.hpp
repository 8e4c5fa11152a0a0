// What moves bytes between the ranks of one group. Every operation is collective and blocks until this rank's
// part is done; counts may be 0 on any rank, and a rank without rows still calls every operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tensor/dtype.hpp"

namespace straddle::comm {

class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // `what` says what the bytes are ("K/V forward", "consensus"): for the recorder and for messages, never for
  // matching. All throw CommError; HangError when the deadline passes or all ranks are blocked.

  // all [size * mine.size()] = the ranks' `mine`, in rank order. Equal sizes on all ranks.
  virtual void all_gather(std::string_view what, std::span<const std::byte> mine,
                          std::span<std::byte> all) = 0;

  // send holds send_bytes[d] bytes for each rank d, in rank order without gaps; recv likewise by source.
  // send_bytes [size], recv_bytes [size]; the message to oneself is copied.
  virtual void all_to_all_v(std::string_view what, std::span<const std::byte> send,
                            std::span<const std::int64_t> send_bytes, std::span<std::byte> recv,
                            std::span<const std::int64_t> recv_bytes) = 0;

  // send [size * recv.size()]; recv = the element-wise sum over ranks of the part for this rank. fp32 or
  // fp64. The order of the sum is the transport's own.
  virtual void reduce_scatter_sum(std::string_view what, tensor::DType dtype, std::span<const std::byte> send,
                                  std::span<std::byte> recv) = 0;

  // One round of point-to-point messages: send to `to` (if any) and receive from `from` (if any). Every rank
  // calls it.
  virtual void send_receive(std::string_view what, std::optional<int> to, std::span<const std::byte> send,
                            std::optional<int> from, std::span<std::byte> recv) = 0;

  // Element-wise maximum over ranks, in place. Equal sizes on all ranks.
  virtual void all_reduce_max(std::string_view what, std::span<std::uint64_t> values) = 0;

  virtual void barrier(std::string_view what) = 0;
};

}  // namespace straddle::comm
