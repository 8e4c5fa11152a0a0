#include "comm/arguments.hpp"

#include <fmt/format.h>

#include "comm/error_text.hpp"
#include "comm/errors.hpp"

namespace straddle::comm {
namespace {

template <class... Args>
[[noreturn]] void refuse(const Caller& caller, OpKind kind, fmt::format_string<Args...> text,
                         Args&&... args) {
  throw CommError(operation_text(caller.rank, kind, caller.what) + ": " +
                  fmt::format(text, std::forward<Args>(args)...));
}

void check_parts(const Caller& caller, std::string_view side, std::size_t buffer_bytes,
                 std::span<const std::int64_t> part_bytes) {
  constexpr OpKind kKind = OpKind::all_to_all_v;
  if (part_bytes.size() != static_cast<std::size_t>(caller.size)) {
    refuse(caller, kKind, "{}_bytes has {} entries, expected one for each of the {} ranks", side,
           part_bytes.size(), caller.size);
  }
  std::size_t total = 0;
  for (std::size_t peer = 0; peer < part_bytes.size(); ++peer) {
    if (part_bytes[peer] < 0) {
      refuse(caller, kKind, "{}_bytes[{}] = {} must not be negative", side, peer, part_bytes[peer]);
    }
    total += static_cast<std::size_t>(part_bytes[peer]);
  }
  if (total != buffer_bytes) {
    refuse(caller, kKind, "{}_bytes add up to {}, but the {} buffer has {} bytes", side, total, side,
           buffer_bytes);
  }
}

void check_peer(const Caller& caller, std::string_view side, std::optional<int> peer) {
  if (peer && (*peer < 0 || *peer >= caller.size)) {
    refuse(caller, OpKind::send_receive, "{} = {} is no rank of this group, expected 0 to {}", side, *peer,
           caller.size - 1);
  }
}

}  // namespace

void check_all_gather(const Caller& caller, std::size_t mine_bytes, std::size_t all_bytes) {
  const std::size_t expected = static_cast<std::size_t>(caller.size) * mine_bytes;
  if (all_bytes == expected) return;
  refuse(caller, OpKind::all_gather, "the receive buffer has {} bytes, expected {} ranks x {} = {}",
         all_bytes, caller.size, mine_bytes, expected);
}

void check_all_to_all_v(const Caller& caller, std::size_t send_size, std::span<const std::int64_t> send_bytes,
                        std::size_t recv_size, std::span<const std::int64_t> recv_bytes) {
  check_parts(caller, "send", send_size, send_bytes);
  check_parts(caller, "recv", recv_size, recv_bytes);
  const std::int64_t sent = send_bytes[caller.rank];
  const std::int64_t received = recv_bytes[caller.rank];
  if (sent != received) {
    refuse(caller, OpKind::all_to_all_v, "the message to oneself has send_bytes {}, but recv_bytes {}", sent,
           received);
  }
}

void check_reduce_scatter(const Caller& caller, tensor::DType dtype, std::size_t send_size,
                          std::size_t recv_size) {
  constexpr OpKind kKind = OpKind::reduce_scatter;
  if (dtype != tensor::DType::fp32 && dtype != tensor::DType::fp64) {
    refuse(caller, kKind, "elements are {}, expected fp32 or fp64", tensor::name(dtype));
  }
  if (recv_size % tensor::size_bytes(dtype) != 0) {
    refuse(caller, kKind, "the receive buffer has {} bytes, expected whole elements of {}", recv_size,
           tensor::name(dtype));
  }
  const std::size_t expected = static_cast<std::size_t>(caller.size) * recv_size;
  if (send_size != expected) {
    refuse(caller, kKind, "the send buffer has {} bytes, expected {} ranks x {} = {}", send_size, caller.size,
           recv_size, expected);
  }
}

void check_send_receive(const Caller& caller, std::optional<int> to, std::size_t send_size,
                        std::optional<int> from, std::size_t recv_size) {
  constexpr OpKind kKind = OpKind::send_receive;
  check_peer(caller, "to", to);
  check_peer(caller, "from", from);
  const bool sends_to_self = to == caller.rank;
  const bool receives_from_self = from == caller.rank;
  if (sends_to_self != receives_from_self) {
    refuse(caller, kKind, "the message to oneself is {}", sends_to_self ? "never received" : "never sent");
  }
  if (sends_to_self && send_size != recv_size) {
    refuse(caller, kKind, "the message to oneself has {} bytes, but {} are received", send_size, recv_size);
  }
}

}  // namespace straddle::comm
