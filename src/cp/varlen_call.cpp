#include "cp/varlen_call.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "cp/rows.hpp"
#include "cp/staging.hpp"

namespace straddle::cp {
namespace {

using tensor::Axis;
using tensor::ConstView;
using tensor::DType;
using tensor::View;

// Segments [first, last) as a call of their own.
KernelCall call_of(const pack::Plan& plan, std::size_t first, std::size_t last) {
  KernelCall call{plan.cu_seqlens_q[first], plan.cu_seqlens_k[first], {0}, {0}};
  for (std::size_t t = first; t < last; ++t) {
    call.cu_seqlens_q.push_back(plan.cu_seqlens_q[t + 1] - plan.cu_seqlens_q[first]);
    call.cu_seqlens_k.push_back(plan.cu_seqlens_k[t + 1] - plan.cu_seqlens_k[first]);
    call.max_seqlen_q = std::max(call.max_seqlen_q, plan.segments[t].queries);
    call.max_seqlen_k = std::max(call.max_seqlen_k, plan.segments[t].keys);
  }
  return call;
}

template <class AnyView>
AnyView query_rows(const KernelCall& call, const AnyView& rows) {
  return rows.slice(Axis::token, call.query_begin, call.queries());
}

template <class AnyView>
AnyView key_rows(const KernelCall& call, const AnyView& rows) {
  return rows.slice(Axis::token, call.key_begin, call.keys());
}

// q [n_r, ..], k, v [b_r + n_r, ..]: real rows only.
kernel::VarlenProblem problem_of(const KernelCall& call, const ConstView& q, const ConstView& k,
                                 const ConstView& v, double softmax_scale, Staging& staging) {
  return {staging.input(query_rows(call, q)),
          staging.input(key_rows(call, k)),
          staging.input(key_rows(call, v)),
          call.cu_seqlens_q,
          call.cu_seqlens_k,
          call.max_seqlen_q,
          call.max_seqlen_k,
          softmax_scale};
}

// +0 has all bits clear in every storage type.
void finish_with_zero_padding(CompactResult& result) {
  const std::array<std::byte, sizeof(double)> zero{};
  result.finish(std::span(zero).first(tensor::size_bytes(result.view().dtype())));
}

// lse is fp32 or fp64.
void finish_with_minus_infinity_padding(CompactResult& result) {
  const double wide = -std::numeric_limits<double>::infinity();
  const float narrow = -std::numeric_limits<float>::infinity();
  if (result.view().dtype() == DType::fp64) return result.finish(std::as_bytes(std::span(&wide, 1)));
  result.finish(std::as_bytes(std::span(&narrow, 1)));
}

}  // namespace

std::vector<KernelCall> kernel_calls(const pack::Plan& plan, bool first_segment_apart) {
  const std::size_t segments = plan.segments.size();
  if (segments == 0) return {};
  const bool asymmetric = plan.segments.front().keys > plan.segments.front().queries;
  if (!first_segment_apart || !asymmetric || segments == 1) return {call_of(plan, 0, segments)};
  return {call_of(plan, 0, 1), call_of(plan, 1, segments)};
}

VarlenAttention::VarlenAttention(const pack::Plan& plan, bool first_segment_apart, double softmax_scale)
    : queries_(real_query_rows(plan)),
      keys_(real_key_rows(plan)),
      calls_(kernel_calls(plan, first_segment_apart)),
      softmax_scale_(softmax_scale) {}

void VarlenAttention::forward(kernel::Kernel& kernel, const ConstView& q, const ConstView& k,
                              const ConstView& v, const kernel::ForwardResults& results) const {
  tensor::Tensor q_storage, k_storage, v_storage;
  const ConstView real_q = compact(q, queries_, q_storage);
  const ConstView real_k = compact(k, keys_, k_storage);
  const ConstView real_v = compact(v, keys_, v_storage);
  CompactResult out(results.out, queries_);
  CompactResult lse(results.lse, queries_);
  for (const KernelCall& call : calls_) {
    Staging staging(kernel.memory());
    const auto problem = problem_of(call, real_q, real_k, real_v, softmax_scale_, staging);
    kernel.forward(problem, {staging.output(query_rows(call, out.view())),
                             staging.output(query_rows(call, lse.view()))});
    staging.finish();
  }
  finish_with_zero_padding(out);
  finish_with_minus_infinity_padding(lse);
}

void VarlenAttention::backward(kernel::Kernel& kernel, const ConstView& q, const ConstView& k,
                               const ConstView& v, const kernel::BackwardInputs& inputs,
                               const kernel::BackwardResults& results) const {
  tensor::Tensor q_storage, k_storage, v_storage, out_storage, lse_storage, d_out_storage, d_lse_storage;
  const ConstView real_q = compact(q, queries_, q_storage);
  const ConstView real_k = compact(k, keys_, k_storage);
  const ConstView real_v = compact(v, keys_, v_storage);
  kernel::BackwardInputs real{compact(inputs.out, queries_, out_storage),
                              compact(inputs.lse, queries_, lse_storage),
                              compact(inputs.d_out, queries_, d_out_storage),
                              {}};
  if (inputs.d_lse) real.d_lse = compact(*inputs.d_lse, queries_, d_lse_storage);
  CompactResult d_q(results.d_q, queries_);
  CompactResult d_k(results.d_k, keys_);
  CompactResult d_v(results.d_v, keys_);
  for (const KernelCall& call : calls_) {
    Staging staging(kernel.memory());
    const auto problem = problem_of(call, real_q, real_k, real_v, softmax_scale_, staging);
    kernel::BackwardInputs staged{staging.input(query_rows(call, real.out)),
                                  staging.input(query_rows(call, real.lse)),
                                  staging.input(query_rows(call, real.d_out)),
                                  {}};
    if (real.d_lse) staged.d_lse = staging.input(query_rows(call, *real.d_lse));
    kernel.backward(problem, staged,
                    {staging.output(query_rows(call, d_q.view())), staging.output(key_rows(call, d_k.view())),
                     staging.output(key_rows(call, d_v.view()))});
    staging.finish();
  }
  finish_with_zero_padding(d_q);
  finish_with_zero_padding(d_k);
  finish_with_zero_padding(d_v);
}

}  // namespace straddle::cp
