// Commands that run cases again.
#pragma once

#include <string>

#include "harness/report/record.hpp"

namespace straddle::harness {

// Whether the rerun names the case's scenario file although its text says everything: a file carries [expect]
// too, without which a vacuous case passes.
enum class WithExpect : std::uint8_t { no, yes };

// Runs exactly this case with as many ranks as it needs, the way this run was launched: "mpirun -np 4
// straddle run --case TEXT", "straddle run --transport threads --ranks 4 --case TEXT". The scenario file
// comes along where the text holds a hash, which only the file can resolve.
[[nodiscard]] std::string repro(const RunInfo& info, const CaseEntry& entry,
                                WithExpect with_expect = WithExpect::no);

// The same for a case that ended: with [expect] where the verdict depends on it.
[[nodiscard]] std::string repro(const RunInfo& info, const CaseRecord& record);

// Runs again what failed in this run, with all its ranks.
[[nodiscard]] std::string rerun_failed(const RunInfo& info, const std::string& folder);

}  // namespace straddle::harness
