// What stands below the cases: how many of each verdict, their causes, where to go on.
#pragma once

#include <map>
#include <string>

#include "harness/report/causes.hpp"
#include "harness/report/record.hpp"

namespace straddle::harness {

// Gathered while the cases end.
struct Tally {
  explicit Tally(std::int64_t blocks) : failed(blocks) {}

  // Counts the record, in its cause where it failed.
  Causes::Counted add(const CaseRecord& record);

  Causes failed;
  Causes left_out{0};                              // skipped and not applicable, by their reasons
  std::map<std::string, std::int64_t> downgraded;  // "halo -> a2a (halo_short)", cases that ran
  std::int64_t judged = 0;                         // passes and mismatches
  std::int64_t bits_not_compared = 0;              // of these
};

struct SummaryOptions {
  bool times = true;
  bool not_here = false;  // name what is not here: the header didn't
  std::size_t width = 100;
};

// The last three lines are the results file, the command that runs again what failed, and the exit code.
[[nodiscard]] std::string summary(const RunInfo& info, const RunTotals& totals, const Tally& tally,
                                  const SummaryOptions& options);

}  // namespace straddle::harness
