// What ranks tell each other once per plan, before any K/V moves: is every plan valid, do they fit together,
// can the kernel run everywhere, and so which path do all take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/transport.hpp"
#include "pack/path.hpp"
#include "pack/plan.hpp"

namespace straddle::cp {

struct LocalFacts {
  std::optional<std::string> plan_error;  // why this rank has no plan that a kernel may consume
  std::optional<std::string> kernel_unsupported, dense_unsupported;
  bool kernel_varlen = true;
  bool spans_nodes = false;
  bool allow_xnode = false;     // only rank 0's counts
  std::uint64_t case_hash = 0;  // of the case and the op's configuration
};

struct Agreement {
  pack::Path path;
  bool take_dense = false;  // the kernel asked for can't run on some rank
};

// Collective: one all-gather, one more for texts when something is wrong. Throws the same ConsensusError on
// all ranks where the op can't run at all: a broken rule (rank, entry, rule), plans that do not fit together
// (pair and both counts), another case or pack on some rank, no kernel for it anywhere.
[[nodiscard]] Agreement preflight(const LocalFacts& facts, const pack::Plan& plan, pack::ExchangeKind asked,
                                  comm::Transport& transport);

}  // namespace straddle::cp
