// What must hold of an operation's arguments before any byte moves. Each throws CommError that names rank,
// operation, purpose, what was expected and what was seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tensor/dtype.hpp"

namespace straddle::comm {

// The caller of an operation: its place in a group.
struct Caller {
  int rank;
  int size;
  std::string_view what;
};

void check_all_gather(const Caller& caller, std::size_t mine_bytes, std::size_t all_bytes);
void check_all_to_all_v(const Caller& caller, std::size_t send_size, std::span<const std::int64_t> send_bytes,
                        std::size_t recv_size, std::span<const std::int64_t> recv_bytes);
void check_reduce_scatter(const Caller& caller, tensor::DType dtype, std::size_t send_size,
                          std::size_t recv_size);
void check_send_receive(const Caller& caller, std::optional<int> to, std::size_t send_size,
                        std::optional<int> from, std::size_t recv_size);

}  // namespace straddle::comm
