// What every transport must do, checked against the definition of each operation. Written once, run over
// every world: by threads in one test program, by processes under mpirun.
#pragma once

#include "comm/transport.hpp"
#include "comm/world.hpp"

namespace straddle::comm {

// Both are collective and throw std::runtime_error naming check, rank and group where something is wrong.

// All operations in one group, with short messages.
void check_transport(Transport& transport);

// All operations with messages of 8 MiB, beyond what a library sends without asking the receiver; of 8 MiB a
// rank in groups of more than 4.
void check_big_messages(Transport& transport);

// check_transport for control() and every group(n), in which the other ranks take no part; check_big_messages
// for all ranks; and what concerns several groups.
void check_world(World& world);

}  // namespace straddle::comm
