#include "harness/run/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "harness/inputs/inputs.hpp"
#include "harness/inputs/row_source.hpp"
#include "harness/run/kernels.hpp"
#include "pack/cost.hpp"
#include "pack/describe.hpp"
#include "pack/plan.hpp"
#include "reference/sgemm.hpp"

namespace straddle::harness {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::int64_t> long_tail(std::int64_t slots) {
  constexpr double kMedian = 300;
  constexpr double kSigma = 1.2;
  constexpr std::uint64_t kSeed = 1;
  std::vector<std::int64_t> lengths;
  std::int64_t left = slots;
  for (std::int64_t i = 0; left > 0; ++i) {
    double normal = 0;
    normal_row(kSeed, InputName::q, 0, i, 0, std::span(&normal, 1));
    const auto drawn = static_cast<std::int64_t>(kMedian * std::exp(kSigma * normal));
    lengths.push_back(std::clamp<std::int64_t>(drawn, 1, left));
    left -= lengths.back();
  }
  return lengths;
}

// All tensors of one W = 1 problem, made once for all rounds.
struct Problem {
  Case point;
  pack::Plan plan;
  tensor::Tensor q, k, v, d_out, out, lse, d_q, d_k, d_v;

  Problem(const BenchPack& pack, const BenchSetting& setting) {
    point.ranks = 1;
    point.pack = pack.pack;
    point.heads = setting.heads;
    point.kv_heads = setting.kv_heads;
    point.head_dim = point.v_head_dim = setting.head_dim;
    plan = pack::make_plan(point.pack, 1, 0);
    const auto inputs = make_inputs(point);
    const std::int64_t rows = point.pack.slots;
    const auto input = [&](InputName name) {
      tensor::Tensor tensor(point.dtype, input_shape(point, name, rows));
      inputs->fill(name, 0, 0, tensor.view());
      return tensor;
    };
    q = input(InputName::q);
    k = input(InputName::k);
    v = input(InputName::v);
    d_out = input(InputName::d_out);
    out = tensor::Tensor(point.dtype, d_out.shape());
    lse = tensor::Tensor(point.dtype, input_shape(point, InputName::d_lse, rows));
    d_q = tensor::Tensor(point.dtype, q.shape());
    d_k = tensor::Tensor(point.dtype, k.shape());
    d_v = tensor::Tensor(point.dtype, v.shape());
  }

  [[nodiscard]] kernel::VarlenProblem varlen() const {
    return {.q = q.view(),
            .k = k.view(),
            .v = v.view(),
            .cu_seqlens_q = plan.cu_seqlens_q,
            .cu_seqlens_k = plan.cu_seqlens_k,
            .max_seqlen_q = plan.max_seqlen_q,
            .max_seqlen_k = plan.max_seqlen_k,
            .softmax_scale = point.scale()};
  }
};

struct RoundTimes {
  double forward;
  double backward;
};

RoundTimes run_round(Problem& problem, kernel::Kernel& kernel) {
  const kernel::VarlenProblem varlen = problem.varlen();
  const auto start = Clock::now();
  kernel.forward(varlen, {.out = problem.out.view(), .lse = problem.lse.view()});
  const double forward = seconds_since(start);
  const Problem& results = problem;
  kernel.backward(
      varlen,
      {.out = results.out.view(), .lse = results.lse.view(), .d_out = results.d_out.view(), .d_lse = {}},
      {.d_q = problem.d_q.view(), .d_k = problem.d_k.view(), .d_v = problem.d_v.view()});
  return {forward, seconds_since(start) - forward};
}

}  // namespace

std::vector<BenchPack> bench_packs(std::int64_t slots) {
  const auto lengths = long_tail(slots);
  return {{fmt::format("1 x {}", slots), pack::from_lengths(std::vector<std::int64_t>{slots})},
          {fmt::format("8 x {}", slots / 8), pack::from_lengths(std::vector<std::int64_t>(8, slots / 8))},
          {fmt::format("{} long-tail of {}", lengths.size(), slots), pack::from_lengths(lengths)}};
}

double anchor_gflops(int rounds) {
  constexpr std::int64_t kSize = 1024;
  const auto elements = static_cast<std::size_t>(kSize * kSize);
  const std::vector<float> a(elements, 0.5F);
  const std::vector<float> b(elements, 2.0F);
  std::vector<float> c(elements);
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    reference::sgemm(kSize, a, b, c);
    best = std::max(best, 2e-9 * static_cast<double>(kSize * kSize * kSize) / seconds_since(start));
  }
  if (c.front() != static_cast<float>(kSize) || c.back() != static_cast<float>(kSize)) {
    throw std::logic_error("the anchor's matrix product is wrong: 0.5 x 2 over 1024 terms must be 1024");
  }
  return best;
}

BenchResult bench(const BenchPack& pack, const BenchSetting& setting) {
  Problem problem(pack, setting);
  const auto kernel = make_kernel(setting.kernel, setting.threads);
  run_round(problem, *kernel);
  BenchResult result;
  std::vector<double> totals;
  for (int round = 0; round < setting.rounds; ++round) {
    result.anchor_gflops = std::max(result.anchor_gflops, anchor_gflops(3));
    const RoundTimes times = run_round(problem, *kernel);
    const double total = times.forward + times.backward;
    if (totals.empty() || total < result.seconds) {
      result.seconds = total;
      result.forward_share = times.forward / total;
    }
    totals.push_back(total);
  }
  std::sort(totals.begin(), totals.end());
  result.spread = totals[totals.size() / 2] / totals.front() - 1;
  result.pairs = pack::pairs_per_rank(pack.pack, 1).front();
  result.gflop = 14e-9 * static_cast<double>(setting.heads * setting.head_dim * result.pairs);
  return result;
}

}  // namespace straddle::harness
