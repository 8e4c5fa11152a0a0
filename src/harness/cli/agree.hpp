// What one rank can't do, none does: ranks compare how their preparation went before anything runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/transport.hpp"

namespace straddle::harness {

struct Preparation {
  int exit_code = 0;       // 0: prepared
  std::string message;     // why not
  std::uint64_t hash = 0;  // of what was prepared; must be equal on all ranks
};

// Collective. Nothing when all ranks are prepared alike; else what the first rank that is not has to say,
// equal on all ranks.
[[nodiscard]] std::optional<Preparation> first_failure(const Preparation& mine, comm::Transport& control);

}  // namespace straddle::harness
