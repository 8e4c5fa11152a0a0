#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "kernel/kernel.hpp"

namespace straddle::kernel {
namespace {

using tensor::Axis;
using tensor::ConstView;
using tensor::DType;

template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
  throw std::invalid_argument(fmt::format(text, std::forward<Values>(values)...));
}

constexpr std::array<std::string_view, 3> kAxisNames = {"token", "head", "dim"};
constexpr std::array<Axis, 3> kAxes = {Axis::token, Axis::head, Axis::dim};

// An extent another tensor fixes, and who fixes it.
struct Expected {
  std::int64_t size;
  std::string_view because;  // "as q has", "as k has", ..
};

void require_axes(std::string_view name, const ConstView& view, std::size_t axes) {
  const auto extents = view.shape().extents();
  bool same = extents.size() == axes;
  for (std::size_t i = 0; same && i < axes; ++i) same = extents[i].axis == kAxes[i];
  if (!same) {
    refuse("{}: its axes must be [{}], but its shape is {}", name,
           fmt::join(kAxisNames.begin(), kAxisNames.begin() + static_cast<std::ptrdiff_t>(axes), ", "),
           view.shape().text());
  }
  if (view.numel() > 0 && view.data() == nullptr) {
    refuse("{}: has shape {} but no data (null)", name, view.shape().text());
  }
}

void require_extent(std::string_view name, const ConstView& view, std::size_t axis, Expected expected) {
  const std::int64_t size = view.size(kAxes[axis]);
  if (size != expected.size) {
    refuse("{}: axis {} must have {} entries, {}, but has {}", name, kAxisNames[axis], expected.size,
           expected.because, size);
  }
}

void require_dtype(std::string_view name, const ConstView& view, DType expected, std::string_view because) {
  if (view.dtype() != expected) {
    refuse("{}: must be {}, {}, but is {}", name, tensor::name(expected), because,
           tensor::name(view.dtype()));
  }
}

void require_positive(std::string_view name, const ConstView& view, std::size_t axis) {
  if (view.size(kAxes[axis]) < 1) refuse("{}: axis {} must not be empty", name, kAxisNames[axis]);
}

void validate_inputs(const VarlenProblem& problem) {
  require_axes("q", problem.q, 3);
  require_axes("k", problem.k, 3);
  require_axes("v", problem.v, 3);
  if (!tensor::is_floating(problem.q.dtype())) {
    refuse("q: must be fp64, fp32, bf16 or fp16, but is {}", tensor::name(problem.q.dtype()));
  }
  require_dtype("k", problem.k, problem.q.dtype(), "as q is");
  require_dtype("v", problem.v, problem.q.dtype(), "as q is");
  require_positive("q", problem.q, 1);
  require_positive("q", problem.q, 2);
  require_positive("k", problem.k, 1);
  require_positive("v", problem.v, 2);
  require_extent("k", problem.k, 2, {problem.q.size(Axis::dim), "as q has"});
  require_extent("v", problem.v, 0, {problem.k.size(Axis::token), "as k has"});
  require_extent("v", problem.v, 1, {problem.k.size(Axis::head), "as k has"});
  const std::int64_t heads = problem.q.size(Axis::head);
  const std::int64_t kv_heads = problem.k.size(Axis::head);
  if (heads % kv_heads != 0) {
    refuse("q: axis head has {} entries, which is no multiple of the {} heads of k", heads, kv_heads);
  }
  if (!std::isfinite(problem.softmax_scale)) {
    refuse("softmax_scale: must be finite, but is {}", problem.softmax_scale);
  }
}

void validate_cu_seqlens(std::string_view name, std::span<const std::int32_t> cu_seqlens, std::int64_t tokens,
                         std::string_view rows) {
  if (cu_seqlens.empty()) refuse("{}: must hold at least one entry, a 0", name);
  if (cu_seqlens.front() != 0) refuse("{}[0]: must be 0, but is {}", name, cu_seqlens.front());
  for (std::size_t i = 1; i < cu_seqlens.size(); ++i) {
    if (cu_seqlens[i] < cu_seqlens[i - 1]) {
      refuse("{0}[{1}]: must not be below {0}[{2}] = {3}, but is {4}", name, i, i - 1, cu_seqlens[i - 1],
             cu_seqlens[i]);
    }
  }
  if (cu_seqlens.back() > tokens) {
    refuse("{}[{}]: must not be above the {} tokens of {}, but is {}", name, cu_seqlens.size() - 1, tokens,
           rows, cu_seqlens.back());
  }
}

void validate_maximum(std::string_view name, std::span<const std::int32_t> cu_seqlens, std::int64_t maximum) {
  std::int64_t longest = 0;
  std::size_t segment = 0;
  for (std::size_t i = 1; i < cu_seqlens.size(); ++i) {
    const std::int64_t length = cu_seqlens[i] - cu_seqlens[i - 1];
    if (length > longest) {
      longest = length;
      segment = i - 1;
    }
  }
  if (maximum != longest) {
    refuse("{}: must be {}, the length of segment {}, but is {}", name, longest, segment, maximum);
  }
}

// A tensor with a row per query: out, lse, d_out, d_lse, d_q.
void validate_query_rows(std::string_view name, const ConstView& view, const VarlenProblem& problem,
                         std::size_t axes) {
  require_axes(name, view, axes);
  require_extent(name, view, 0, {problem.q.size(Axis::token), "as q has"});
  require_extent(name, view, 1, {problem.q.size(Axis::head), "as q has"});
}

void validate_out(std::string_view name, const ConstView& view, const VarlenProblem& problem) {
  validate_query_rows(name, view, problem, 3);
  require_extent(name, view, 2, {problem.v.size(Axis::dim), "as v has"});
  require_dtype(name, view, problem.q.dtype(), "as q is");
}

void validate_lse(std::string_view name, const ConstView& view, const VarlenProblem& problem) {
  validate_query_rows(name, view, problem, 2);
  require_dtype(name, view, tensor::accumulation_dtype(problem.q.dtype()), "what q's dtype accumulates in");
}

void validate_key_gradient(std::string_view name, const ConstView& view, const VarlenProblem& problem,
                           Expected dim) {
  require_axes(name, view, 3);
  require_extent(name, view, 0, {problem.k.size(Axis::token), "as k has"});
  require_extent(name, view, 1, {problem.k.size(Axis::head), "as k has"});
  require_extent(name, view, 2, dim);
  require_dtype(name, view, tensor::accumulation_dtype(problem.q.dtype()), "what q's dtype accumulates in");
}

}  // namespace

void validate(const VarlenProblem& problem) {
  validate_inputs(problem);
  validate_cu_seqlens("cu_seqlens_q", problem.cu_seqlens_q, problem.q.size(Axis::token), "q");
  validate_cu_seqlens("cu_seqlens_k", problem.cu_seqlens_k, problem.k.size(Axis::token), "k");
  if (problem.cu_seqlens_q.size() != problem.cu_seqlens_k.size()) {
    refuse("cu_seqlens_k: must hold {} entries, as cu_seqlens_q does, but holds {}",
           problem.cu_seqlens_q.size(), problem.cu_seqlens_k.size());
  }
  validate_maximum("max_seqlen_q", problem.cu_seqlens_q, problem.max_seqlen_q);
  validate_maximum("max_seqlen_k", problem.cu_seqlens_k, problem.max_seqlen_k);
}

void validate(const VarlenProblem& problem, const ForwardResults& results) {
  validate(problem);
  validate_out("out", results.out, problem);
  validate_lse("lse", results.lse, problem);
}

void validate(const VarlenProblem& problem, const BackwardInputs& inputs, const BackwardResults& results) {
  validate(problem);
  validate_out("out", inputs.out, problem);
  validate_lse("lse", inputs.lse, problem);
  validate_out("d_out", inputs.d_out, problem);
  if (inputs.d_lse) validate_lse("d_lse", *inputs.d_lse, problem);
  validate_query_rows("d_q", results.d_q, problem, 3);
  require_extent("d_q", results.d_q, 2, {problem.q.size(Axis::dim), "as q has"});
  require_dtype("d_q", results.d_q, problem.q.dtype(), "as q is");
  validate_key_gradient("d_k", results.d_k, problem, {problem.k.size(Axis::dim), "as k has"});
  validate_key_gradient("d_v", results.d_v, problem, {problem.v.size(Axis::dim), "as v has"});
}

}  // namespace straddle::kernel
