// A case that did not do what it is about proves nothing.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/judge.hpp"
#include "harness/scenario/scenario.hpp"

namespace straddle::harness {

// What happened, as far as it can be seen from outside the numbers.
struct CaseFacts {
  std::int64_t rows_per_rank = 0;       // L
  std::vector<std::int64_t> straddles;  // b_r, [W]
  std::vector<std::int64_t> real_rows;  // n_r, [W]
  std::vector<std::int64_t> pairs;      // [W]
  pack::Path path;
  std::int64_t forward_bytes = 0;  // moved between ranks, by the recorder, all layers and repetitions
  std::int64_t backward_bytes = 0;
  std::int64_t forward_bytes_form = 0;  // in closed form
  std::int64_t backward_bytes_form = 0;
  bool same_operations = true;  // all ranks' operation logs have the same kinds and order
  std::string kernel;           // the one that ran
};

// Sentences for everything in [expect] that did not hold ("expected a straddle, but b = 0 0"), for tensors
// whose reference is 0 over the whole case and not named in expect.zero, and nothing when the case is not
// bound (W < min_ranks: only zero references).
[[nodiscard]] std::vector<std::string> vacuous_reasons(const Case& point, const Expect& expect,
                                                       const CaseFacts& facts, const Judgement& judgement);

// Sentences for facts that are wrong in themselves: bytes unlike the closed form, pairs that don't sum to sum
// n (n + 1) / 2, ranks with different operation logs. They make the case a mismatch.
[[nodiscard]] std::vector<std::string> wrong_facts(const Case& point, const CaseFacts& facts);

}  // namespace straddle::harness
