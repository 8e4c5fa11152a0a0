// The wire between ranks that are threads.
#pragma once

#include <memory>

#include "comm/threads/hub.hpp"
#include "comm/wire.hpp"

namespace straddle::comm {

struct ThreadSeat {
  int rank;
  int size;   // of the group
  int group;  // kControlGroup or n
};

// `hub` and `deadline` (null: none, ever) must outlive the wire. Sums are made in rank order.
[[nodiscard]] std::unique_ptr<Wire> thread_wire(Hub& hub, const ThreadSeat& seat, const Deadline* deadline);

}  // namespace straddle::comm
