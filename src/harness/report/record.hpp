// What is known of one case after it ended: the source of the console, JSON Lines and JUnit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/judge.hpp"
#include "harness/judge/vacuity.hpp"
#include "harness/scenario/scenario.hpp"

namespace straddle::harness {

enum class Verdict : std::uint8_t { pass, mismatch, hang, crash, vacuous, skipped, lost, not_applicable };
[[nodiscard]] std::string_view name(Verdict verdict);  // "pass", "mismatch", .., "not applicable"

struct CaseRecord {
  CaseEntry entry;
  std::int64_t repetition = 0;
  Verdict verdict = Verdict::lost;
  std::vector<std::string> reasons;  // sentences: why skipped, vacuous, crashed, which facts are wrong
  Judgement judgement;
  Judgement plan_judgement;    // 16-bit cases: the same plan with the fp64 kernel; empty elsewhere
  Judgement stored_judgement;  // inputs from a file with results: against those; empty elsewhere
  CaseFacts facts;
  std::map<std::string, std::uint64_t> checksums;  // out, lse, d_q, d_k, d_v (over layers)
  std::vector<std::string> where;                  // hang: each rank's Recorder::where()
  double ms = 0;  // of the subject, from the start barrier to the last rank's end
};

// Everything about the run that is not about one case.
struct RunInfo {
  std::string run_id;  // "5e1c09"
  std::string version, commit;
  std::uint64_t seed = 7;  // of --random
  std::int64_t cases = 0, files = 0;
  std::map<std::string, std::string> titles;  // of scenarios, by file
  double timeout_s = 10;
  std::int64_t ranks = 1;
  std::vector<std::string> hosts;     // [ranks]
  bool under_mpi = false;             // repro lines start with mpirun
  std::string transport;              // "mpi (Open MPI 4.1.4)", "threads"
  std::vector<std::string> kernels;   // "dense", "cpu (AVX2, 1 thread)"
  std::vector<std::string> not_here;  // "cuda (not built)", "W > 4 (4 ranks started)"
  std::string folder;                 // runs/5e1c09
};

struct RunTotals {
  std::map<Verdict, std::int64_t> count;
  double seconds = 0;
  int exit_code = 0;
};

// Exit code of one verdict and the gravest of several: 6, 4, 3, 1, 5, 77, 0 in this order.
[[nodiscard]] int exit_code(Verdict verdict);
[[nodiscard]] int gravest(int a, int b);

// "pass", "mismatch", "usage", ..: what the last line says beside the code.
[[nodiscard]] std::string_view exit_word(int code);

// Neither a pass nor left out (skipped, not applicable).
[[nodiscard]] bool is_bad(Verdict verdict);

}  // namespace straddle::harness
