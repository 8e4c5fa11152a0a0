// The oracle of a case, computed once for all cases of a matrix with the same inputs, its documents and heads
// spread over the ranks.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "comm/transport.hpp"
#include "harness/inputs/inputs.hpp"
#include "harness/judge/judge.hpp"

namespace straddle::harness {

// Collective over `control` (all ranks of the world, whatever the case's W): each rank attends its share of
// (document, kv head), costliest first, and rank 0 receives all. Returns the layers on rank 0, nothing
// elsewhere. Deterministic for any rank count.
[[nodiscard]] std::vector<OracleLayer> compute_oracle(const Case& point, const Inputs& inputs,
                                                      comm::Transport& control);

// Keeps the last oracles by oracle_key, up to a number of bytes. Every rank holds the same keys (values only
// on rank 0), so that all agree whether one is there.
class OracleCache {
 public:
  explicit OracleCache(std::size_t limit_bytes = std::size_t{512} << 20);
  // Collective. The layers on rank 0, empty elsewhere.
  [[nodiscard]] std::shared_ptr<const std::vector<OracleLayer>> get(const Case& point, const Inputs& inputs,
                                                                    comm::Transport& control);

 private:
  struct Entry {
    std::string key;
    std::size_t bytes;
    std::shared_ptr<const std::vector<OracleLayer>> layers;
  };
  std::size_t limit_bytes_;
  std::list<Entry> entries_;  // most recent first
};

}  // namespace straddle::harness
