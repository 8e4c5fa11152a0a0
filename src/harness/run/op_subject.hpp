// The op of cp/ as the subject of a case.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "comm/recorder.hpp"
#include "cp/attention.hpp"
#include "harness/run/subject.hpp"
#include "kernel/kernel.hpp"

namespace straddle::harness {

// What can be put in place of a part of the op, on this rank; for faults and tests. Unset members change
// nothing.
struct SubjectSeams {
  cp::Seams op;
  std::function<std::unique_ptr<comm::Transport>(comm::Transport&)>
      transport;  // decorates the transport under test
  std::function<std::unique_ptr<kernel::Kernel>(std::unique_ptr<kernel::Kernel>)> kernel;
};

class OpSubject final : public Subject {
 public:
  // timeout_s: deadline of a case; 0: none. threads: of each rank's kernel.
  OpSubject(double timeout_s, int threads, SubjectSeams seams = {});
  ~OpSubject() override;

  [[nodiscard]] SubjectRun run(const Case& point, const Inputs& inputs, comm::World& world) override;

  // The case on this rank alone, with W = 1.
  [[nodiscard]] std::vector<LayerResults> run_alone(const Case& point, const Inputs& inputs);

  // Where this rank stands now; may be called from another thread.
  [[nodiscard]] std::string where() const { return recorder_.where(); }

 private:
  kernel::Kernel& kernel(const std::string& name);

  double timeout_s_;
  int threads_;
  SubjectSeams seams_;
  comm::Recorder recorder_;
  std::map<std::string, std::unique_ptr<kernel::Kernel>> kernels_;
};

}  // namespace straddle::harness
