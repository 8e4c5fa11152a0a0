// The operations of a Transport, by name.
#pragma once

#include <cstdint>
#include <string_view>

namespace straddle::comm {

enum class OpKind : std::uint8_t {
  all_gather,
  all_to_all_v,
  reduce_scatter,
  send_receive,
  all_reduce,
  barrier
};
[[nodiscard]] std::string_view name(OpKind kind);

}  // namespace straddle::comm
