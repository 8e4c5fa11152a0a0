// All cases of a run, one after the other, over the ranks of a world.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "comm/world.hpp"
#include "harness/report/reporter.hpp"
#include "harness/run/op_subject.hpp"

namespace straddle::harness {

struct RunOptions {
  double timeout_s = 10;  // of a case; 0: no deadline
  int threads = 1;        // of each rank's kernel
  double grace_s = 60;    // beyond three deadlines, for ranks to meet and for the judgement
  std::int64_t repeat = 1;
  bool strict = false;  // a run in which everything was skipped is uncovered (5), not skipped (77)
  bool ranks_asked =
      false;  // ranks were asked for on the command line: a case that needs more is a usage error
  std::optional<std::filesystem::path> save;        // folder for the results of each case
  std::optional<std::filesystem::path> run_folder;  // each rank writes rankK.log there when a case hangs
  SubjectSeams seams;
};

// Collective over the world; `reporters` are used on rank 0 only. Returns on every rank with the same exit
// code. When ranks can't meet again after a hang, the process ends with exit code 3 after everything was
// reported.
RunTotals run_cases(comm::World& world, std::span<const CaseEntry> cases, const RunOptions& options,
                    std::span<Reporter* const> reporters);

}  // namespace straddle::harness
