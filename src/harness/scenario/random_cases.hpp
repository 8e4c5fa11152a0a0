// Random cases: W 1 to max_ranks, S up to 2048, 0- and 1-token documents, padding, all head ratios, dims,
// exchanges and dtypes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/scenario/scenario.hpp"

namespace straddle::harness {

// Case i depends on (seed, i) and max_ranks only.
[[nodiscard]] std::vector<CaseEntry> random_cases(std::int64_t count, std::uint64_t seed,
                                                  std::int64_t max_ranks,
                                                  const std::vector<std::string>& kernels = {"cpu"});

// What was drawn, as a text table: one line a property (ranks, S, documents, 1-token documents, padding
// ranks, head ratio, D, dtype, exchange, ..) with counts by value or by range.
[[nodiscard]] std::string histogram(const std::vector<CaseEntry>& cases);

}  // namespace straddle::harness
