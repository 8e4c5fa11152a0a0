#include "harness/run/examiner.hpp"

#include <doctest/doctest.h>

#include "doubles.hpp"

namespace straddle::harness {
namespace {

CaseRecord examine(const CaseEntry& entry, int ranks, const SubjectSeams& seams = {}) {
  CaseRecord record;
  comm::run_threads(ranks, [&](comm::World& world) {
    OpSubject subject(10, 1, seams);
    Examiner examiner(subject, world);
    CaseRecord mine = examiner.examine(entry);
    if (world.rank() == 0) record = std::move(mine);
  });
  return record;
}

TEST_CASE("a case's record holds every tensor and document, facts in closed form and the bits' comparison") {
  const CaseRecord record = examine(entry_of("W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7"), 4);
  CHECK(record.verdict == Verdict::pass);
  CHECK(record.judgement.tensors.size() == 15);
  CHECK(record.judgement.bits.compared);
  CHECK(record.judgement.bits.equal);
  CHECK(record.judgement.worst_ratio() > 0);
  CHECK(record.judgement.worst_ratio() < 1);
  CHECK(record.facts.straddles == std::vector<std::int64_t>{0, 2, 6, 10});
  // Picture 3 of the plan: 18 KiB each way.
  CHECK(record.facts.forward_bytes == 18 * 1024);
  CHECK(record.facts.backward_bytes == 18 * 1024);
  CHECK(record.facts.forward_bytes == record.facts.forward_bytes_form);
  CHECK(record.facts.same_operations);
  CHECK(record.checksums.size() == 5);
}

TEST_CASE("16-bit cases are judged a second time with the plan in fp64") {
  const CaseRecord record = examine(entry_of("W2/5,3+0/H4:2/D16/bf16/a2a/cpu/s7"), 2);
  CHECK(record.verdict == Verdict::pass);
  CHECK(record.plan_judgement.tensors.size() == 10);
  CHECK(record.plan_judgement.worst_ratio() < 1);
  CHECK(examine(entry_of("W2/5,3+0/H4:2/D16/fp32/a2a/cpu/s7"), 2).plan_judgement.tensors.empty());
}

TEST_CASE("a plan mistake too small for 16-bit bounds is seen by the fp64 run of the plan") {
  // dK gets one part in 2000 too much on its way home: half a rounding of bf16.
  struct Scaling final : cp::Adjoint {
    std::unique_ptr<cp::Adjoint> inner;
    void scatter(const pack::Plan& plan, const tensor::ConstView& partial_d_k,
                 const tensor::ConstView& partial_d_v, const tensor::View& d_k, const tensor::View& d_v,
                 comm::Transport& transport) override {
      inner->scatter(plan, partial_d_k, partial_d_v, d_k, d_v, transport);
      if (d_k.dtype() == tensor::DType::fp64) {
        for (double& x : d_k.span<double>()) x *= 1.0005;
      } else {
        for (float& x : d_k.span<float>()) x *= 1.0005F;
      }
    }
  };
  SubjectSeams seams;
  seams.op.adjoint = [](std::unique_ptr<cp::Adjoint> inner) {
    auto scaling = std::make_unique<Scaling>();
    scaling->inner = std::move(inner);
    return scaling;
  };
  const CaseRecord record = examine(entry_of("W2/5,3+0/H4:2/D16/bf16/a2a/cpu/s7"), 2, seams);
  CHECK(record.verdict == Verdict::mismatch);
  CHECK(record.plan_judgement.wrong());
}

TEST_CASE("results stored beside a file's inputs are compared too") {
  CaseEntry entry;
  entry.point.ranks = 2;
  const std::string path = STRADDLE_SOURCE_DIR "/data/smollm2/layer00.safetensors";
  const InputFile file = read_input_file(path);
  entry.point.pack = file.pack;
  entry.point.heads = file.heads;
  entry.point.kv_heads = file.kv_heads;
  entry.point.softmax_scale = file.softmax_scale;
  entry.point.dtype = tensor::DType::fp32;
  entry.point.inputs.kind = InputKind::file;
  entry.point.inputs.file = path;
  entry.text = print(entry.point);
  const CaseRecord record = examine(entry, 2);
  CHECK(record.verdict == Verdict::pass);
  CHECK(record.stored_judgement.tensors.size() == 5 * 14);
  CHECK(record.stored_judgement.worst_ratio() < 1);
}

TEST_CASE("a write past a shard's rows is found by its guard and named") {
  SubjectSeams seams;
  seams.kernel = [](std::unique_ptr<kernel::Kernel> inner) {
    return std::make_unique<SpoilingKernel>(std::move(inner), [](const auto* forward, const auto*) {
      if (forward != nullptr) forward->lse.template as<float>()[forward->lse.numel()] = 0;
    });
  };
  const CaseRecord record = examine(entry_of("W2/5,3+0/H2:1/D8/fp32/a2a/cpu/s7"), 2, seams);
  CHECK(record.verdict == Verdict::mismatch);
  REQUIRE_FALSE(record.reasons.empty());
  CHECK(record.reasons[0] == "rank 0 wrote past its rows of lse (layer 0): guard rows changed");
}

TEST_CASE("layers with recompute: every layer is judged, bytes count the second forward") {
  CaseEntry entry = entry_of("W2/5,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  entry.point.layers = 3;
  entry.point.recompute = true;
  const CaseRecord record = examine(entry, 2);
  CHECK(record.verdict == Verdict::pass);
  CHECK(record.judgement.tensors.size() == 3 * 10);
  CHECK(record.facts.forward_bytes == 2 * 3 * 4 * 1024);
  CHECK(record.facts.backward_bytes == 3 * 4 * 1024);
}

}  // namespace
}  // namespace straddle::harness
