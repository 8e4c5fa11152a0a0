// What is judged: inputs of a case in, global results out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/world.hpp"
#include "harness/inputs/inputs.hpp"
#include "harness/judge/judge.hpp"
#include "harness/judge/vacuity.hpp"

namespace straddle::harness {

enum class RunState : std::uint8_t { ok, failed, hang };

// state and stranded are the same on every rank of the world; the rest is filled on rank 0 alone.
struct SubjectRun {
  RunState state = RunState::ok;
  bool stranded = false;             // some rank hung: its transport may hold messages that nobody will take
  std::string failure;               // of the first rank that failed: what and why
  std::vector<std::string> where;    // [W] where each rank stands, for failed and hang
  std::vector<LayerResults> layers;  // global rows [0, padded slots); empty unless ok
  CaseFacts facts;
  std::vector<std::string> problems;  // of any rank: sentences that make the case a mismatch
  double ms = 0;                      // from the start barrier to the end of the last rank
};

class Subject {
 public:
  virtual ~Subject() = default;
  // Collective over all ranks of the world; the case's W may be smaller, the ranks outside wait at the end
  // without spinning.
  [[nodiscard]] virtual SubjectRun run(const Case& point, const Inputs& inputs, comm::World& world) = 0;
};

}  // namespace straddle::harness
