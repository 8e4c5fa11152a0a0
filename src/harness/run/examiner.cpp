#include "harness/run/examiner.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/run/collect.hpp"
#include "harness/run/second_runs.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kControlArms = 8;  // kept; a matrix uses one a kernel and dtype at a time

// The case with everything reset that its inputs don't depend on.
Case inputs_part(Case point) {
  const Case defaults;
  point.ranks = defaults.ranks;
  point.exchange = defaults.exchange;
  point.kernel = defaults.kernel;
  point.reduce = defaults.reduce;
  point.first_segment_apart = defaults.first_segment_apart;
  point.recompute = defaults.recompute;
  point.probe = defaults.probe;
  return point;
}

std::map<std::string, tensor::Tensor> wide_inputs(const Case& point, const Inputs& inputs,
                                                  std::int64_t layer) {
  std::map<std::string, tensor::Tensor> wide;
  for (const auto input : {InputName::q, InputName::k, InputName::v, InputName::d_out, InputName::d_lse}) {
    if (input == InputName::d_lse && !point.inputs.d_lse) continue;
    tensor::Tensor rows(tensor::DType::fp64, input_shape(point, input, point.pack.slots));
    inputs.fill(input, layer, 0, rows.view());
    wide.emplace(name(input), std::move(rows));
  }
  return wide;
}

std::map<std::string, std::uint64_t> checksums_of(const Case& point,
                                                  const std::vector<LayerResults>& layers) {
  std::map<std::string, std::uint64_t> sums;
  for (const auto result : kResultNames) {
    std::uint64_t sum = 0;
    for (const LayerResults& layer : layers) {
      sum = sum * 0x9e3779b97f4a7c15U + checksum(layer.by_name(result), point.pack.slots);
    }
    sums.emplace(result, sum);
  }
  return sums;
}

bool judged_with_fp64_plan(const Case& point) { return tensor::size_bytes(point.dtype) == 2; }

}  // namespace

Examiner::Examiner(OpSubject& subject, comm::World& world, Keep keep)
    : subject_(subject), world_(world), keep_(std::move(keep)) {}

const Inputs& Examiner::inputs_of(const Case& point) {
  Case key = inputs_part(point);
  if (!inputs_key_ || *inputs_key_ != key) {
    inputs_.reset();
    inputs_ = make_inputs(point);
    inputs_key_ = std::make_unique<Case>(std::move(key));
  }
  return *inputs_;
}

std::shared_ptr<const Examiner::Layers> Examiner::control_arm(const Case& point, const Inputs& inputs) {
  const std::string key = control_key(point);
  const auto found = std::find_if(control_arms_.begin(), control_arms_.end(),
                                  [&](const ControlArm& arm) { return arm.key == key; });
  if (found != control_arms_.end()) {
    control_arms_.splice(control_arms_.begin(), control_arms_, found);
  } else {
    control_arms_.push_front(
        {key, std::make_shared<const Layers>(subject_.run_alone(control_point(point), inputs))});
    if (control_arms_.size() > kControlArms) control_arms_.pop_back();
  }
  return control_arms_.front().layers;
}

CaseRecord Examiner::examine(const CaseEntry& entry) {
  const Case& point = entry.point;
  CaseRecord record;
  record.entry = entry;
  const Inputs& inputs = inputs_of(point);
  SubjectRun run = subject_.run(point, inputs, world_);
  record.ms = run.ms;

  std::optional<SubjectRun> plan_run;
  std::optional<SecondRun> probe;
  if (run.state == RunState::ok && judged_with_fp64_plan(point)) {
    Case wide = point;
    wide.dtype = tensor::DType::fp64;
    plan_run = subject_.run(wide, inputs, world_);
  }
  if (run.state == RunState::ok && point.probe != Probe::none)
    probe = run_probe(point, inputs, subject_, world_);
  for (SubjectRun* second : {plan_run ? &*plan_run : nullptr, probe ? &probe->run : nullptr}) {
    if (second == nullptr || second->state == RunState::ok || run.state != RunState::ok) continue;
    run.state = second->state;
    run.failure =
        (second == (probe ? &probe->run : nullptr) ? "second run of the probe: " : "fp64 run of the plan: ") +
        second->failure;
    run.where = second->where;
    run.stranded = second->stranded;
  }
  if (run.state == RunState::ok) {
    const auto oracle = oracles_.get(point, inputs, world_.control());
    if (world_.rank() == 0) {
      judge(point, inputs, run.layers, *oracle, record);
      if (plan_run) {
        for (std::size_t layer = 0; layer < oracle->size(); ++layer) {
          compare_layer(point, static_cast<std::int64_t>(layer), plan_run->layers[layer], (*oracle)[layer],
                        tensor::DType::fp64, record.plan_judgement);
        }
      }
      if (probe) {
        for (std::size_t layer = 0; layer < run.layers.size(); ++layer) {
          compare_probe(point, static_cast<std::int64_t>(layer), probe->changed, run.layers[layer],
                        probe->run.layers[layer], record.judgement);
        }
      }
      if (keep_) keep_(point, run.layers);
    }
  }
  stranded_ = run.stranded;
  conclude(entry, run, record);
  return record;
}

void Examiner::judge(const Case& point, const Inputs& inputs, const Layers& layers,
                     const std::vector<OracleLayer>& oracle, CaseRecord& record) {
  const auto control = control_arm(point, inputs);
  for (std::int64_t layer = 0; layer < point.layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    compare_layer(point, layer, layers[at], oracle[at], std::nullopt, record.judgement);
    check_invariants(point, layer, wide_inputs(point, inputs, layer), layers[at], record.judgement);
    compare_bits(point, layer, layers[at], (*control)[at], record.judgement);
  }
  record.checksums = checksums_of(point, layers);
  if (has_stored_results(point)) {
    compare_layer(point, 0, layers[0], with_stored_results(point, oracle[0]), std::nullopt,
                  record.stored_judgement);
  }
}

void Examiner::conclude(const CaseEntry& entry, const SubjectRun& run, CaseRecord& record) const {
  record.where = run.where;
  if (run.state != RunState::ok) {
    record.verdict = run.state == RunState::hang ? Verdict::hang : Verdict::crash;
    record.reasons.push_back(run.failure);
    return;
  }
  record.verdict = Verdict::pass;
  if (world_.rank() != 0) return;
  record.facts = run.facts;
  record.reasons = wrong_facts(entry.point, run.facts);
  record.reasons.insert(record.reasons.end(), run.problems.begin(), run.problems.end());
  if (record.plan_judgement.wrong())
    record.reasons.emplace_back("the plan is wrong in fp64 too: not a matter of rounding");
  if (record.stored_judgement.wrong())
    record.reasons.emplace_back("differs from the exact results stored in the file");
  if (record.judgement.wrong() || !record.reasons.empty()) {
    record.verdict = Verdict::mismatch;
    return;
  }
  record.reasons = vacuous_reasons(entry.point, entry.expect, run.facts, record.judgement);
  if (!record.reasons.empty()) record.verdict = Verdict::vacuous;
}

}  // namespace straddle::harness
