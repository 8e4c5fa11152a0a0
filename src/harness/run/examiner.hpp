// One case from its inputs to its record: the subject's run, the second runs that its checks need, the
// oracle, the judgement.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "comm/world.hpp"
#include "harness/judge/oracle.hpp"
#include "harness/report/record.hpp"
#include "harness/run/op_subject.hpp"

namespace straddle::harness {

class Examiner {
 public:
  // Called on rank 0 with the global results of each case that ran.
  using Keep = std::function<void(const Case&, const std::vector<LayerResults>&)>;

  Examiner(OpSubject& subject, comm::World& world, Keep keep = {});

  // Collective over the world. Complete on rank 0; elsewhere only verdict is filled, and only with hang,
  // crash or pass (= it ran).
  [[nodiscard]] CaseRecord examine(const CaseEntry& entry);

  // Whether some rank hung in the last case, so that the transport under test has to be recovered. The same
  // on every rank.
  [[nodiscard]] bool stranded() const { return stranded_; }

 private:
  using Layers = std::vector<LayerResults>;

  const Inputs& inputs_of(const Case& point);
  std::shared_ptr<const Layers> control_arm(const Case& point, const Inputs& inputs);
  void judge(const Case& point, const Inputs& inputs, const Layers& layers,
             const std::vector<OracleLayer>& oracle, CaseRecord& record);
  void conclude(const CaseEntry& entry, const SubjectRun& run, CaseRecord& record) const;

  OpSubject& subject_;
  comm::World& world_;
  Keep keep_;
  bool stranded_ = false;
  OracleCache oracles_;
  std::unique_ptr<Case> inputs_key_;
  std::unique_ptr<Inputs> inputs_;
  struct ControlArm {
    std::string key;
    std::shared_ptr<const Layers> layers;
  };
  std::list<ControlArm> control_arms_;  // most recent first
};

}  // namespace straddle::harness
