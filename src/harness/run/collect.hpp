// Bringing what every rank knows of a case to rank 0, over the control transport.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/transport.hpp"
#include "harness/run/shard_run.hpp"
#include "harness/run/subject.hpp"

namespace straddle::harness {

// What one rank says after its part of a case.
struct RankStatus {
  bool in_group = false;
  RunState state = RunState::ok;
  double ms = 0;
  std::int64_t forward_bytes = 0;
  std::int64_t backward_bytes = 0;
  std::uint64_t operations_hash = 0;
  std::string failure = {};   // cut to what fits a fixed record
  std::string where = {};     // likewise
  std::string problems = {};  // likewise; lines
};

// Collective; every rank gets all.
[[nodiscard]] std::vector<RankStatus> gather_status(const RankStatus& mine, comm::Transport& control);

// Collective; rank 0 gets the layers in global rows, the others nothing. shard is null on ranks outside the
// group.
[[nodiscard]] std::vector<LayerResults> gather_layers(const Case& point, const ShardRun* shard,
                                                      comm::Transport& control);

[[nodiscard]] LayerResults empty_layer(const Case& point, std::int64_t rows);

}  // namespace straddle::harness
