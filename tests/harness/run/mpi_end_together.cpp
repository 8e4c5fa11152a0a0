// Under mpirun: a case that can never end, on purpose. hang: rank 1 skips a collective. stuck: rank 1
// computes for ever. Rank 0 must report a hang and every process must end.
#include <cstdio>
#include <string_view>
#include <thread>

#include "doubles.hpp"
#include "harness/run/runner.hpp"

namespace straddle::harness {
namespace {

// Prints what it is told at the end.
class PrintingReporter final : public Reporter {
 public:
  void begin(const RunInfo&) override {}
  void before_case(const CaseEntry&, std::int64_t) override {}
  void after_case(const CaseRecord& record) override { hung_ = record.verdict == Verdict::hang; }
  void end(const RunTotals& totals) override {
    if (hung_ && totals.exit_code == 3) std::puts("ended with a report of the hang");
    std::fflush(stdout);
  }

 private:
  bool hung_ = false;
};

SubjectSeams fault(std::string_view how, int rank) {
  SubjectSeams seams;
  if (rank != 1) return seams;
  if (how == "hang") {
    seams.transport = [](comm::Transport& inner) { return std::make_unique<SkippingTransport>(inner); };
  } else {
    seams.kernel = [](std::unique_ptr<kernel::Kernel> inner) {
      return std::make_unique<SpoilingKernel>(std::move(inner), [](const auto*, const auto*) {
        for (;;) std::this_thread::yield();
      });
    };
  }
  return seams;
}

int run(std::string_view how) {
  const auto world = comm::mpi_world();
  RunOptions options;
  options.timeout_s = 1;
  options.grace_s = 1;
  options.seams = fault(how, world->rank());
  PrintingReporter reporter;
  Reporter* const reporters = &reporter;
  const auto cases = entries_of({"W3/5,4+0/H2:1/D8/fp32/a2a/cpu/s7", "W3/5,4+0/H2:1/D8/fp32/a2a/cpu/s8"});
  return run_cases(*world, cases, options, std::span(&reporters, 1)).exit_code;
}

}  // namespace
}  // namespace straddle::harness

int main(int argc, char** argv) { return argc == 2 ? straddle::harness::run(argv[1]) : 2; }
