#include "harness/judge/oracle_worker.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/judge/document_errors.hpp"
#include "harness/judge/layout.hpp"
#include "reference/attention.hpp"

namespace straddle::harness {
namespace {

using tensor::DType;
using tensor::Tensor;

// The float reference is a figure to print beside the verdict, not worth more than about 50 ms a task: beyond
// this work it is left out.
constexpr double kFloatReferenceFlop = 2.5e8;

constexpr std::size_t kPackedScalars = 1 + kResultNames.size();  // A, used of the float reference

const std::array<std::string, 4> kConditionNames = {"out", "d_q", "d_k", "d_v"};

std::int64_t group(const Case& point) { return point.heads / point.kv_heads; }

// The task as a problem of its own: one kv head and its group.
Case task_case(const Case& point) {
  Case task = point;
  task.heads = group(point);
  task.kv_heads = 1;
  return task;
}

// Everything the reference writes for one task, tokens = the document's.
struct TaskResults {
  LayerResults results;
  std::array<Tensor, 4> sigma, tau;  // as kConditionNames

  TaskResults(const Case& task, std::int64_t tokens, DType dtype) {
    for (const std::string_view name : kResultNames) {
      results.by_name(name) = Tensor(dtype, result_shape(task, name, tokens));
    }
  }
  void add_condition(const Case& task, std::int64_t tokens) {
    for (std::size_t i = 0; i < kConditionNames.size(); ++i) {
      sigma[i] = Tensor(DType::fp64, result_shape(task, kConditionNames[i], tokens));
      tau[i] = Tensor(DType::fp64, result_shape(task, kConditionNames[i], tokens));
    }
  }
  template <class Scalar>
  [[nodiscard]] reference::Results<Scalar> spans() {
    return {results.out.view().span<Scalar>(), results.lse.view().span<Scalar>(),
            results.d_q.view().span<Scalar>(), results.d_k.view().span<Scalar>(),
            results.d_v.view().span<Scalar>()};
  }
  [[nodiscard]] reference::Condition condition() {
    const auto span = [](Tensor& tensor) { return tensor.view().span<double>(); };
    return {span(sigma[0]), span(sigma[1]), span(sigma[2]), span(sigma[3]),
            span(tau[0]),   span(tau[1]),   span(tau[2]),   span(tau[3])};
  }
  // In the order in which they are packed.
  [[nodiscard]] std::vector<const Tensor*> packed() const {
    std::vector<const Tensor*> all;
    for (const std::string_view name : kResultNames) all.push_back(&results.by_name(name));
    for (const auto* condition : {&sigma, &tau}) {
      for (const Tensor& tensor : *condition) all.push_back(&tensor);
    }
    return all;
  }
};

template <class Scalar>
reference::Inputs<Scalar> input_spans(const std::vector<Tensor>& inputs) {
  const auto span = [](const Tensor& tensor) { return tensor.view().template span<Scalar>(); };
  reference::Inputs<Scalar> spans{span(inputs[0]), span(inputs[1]), span(inputs[2]), span(inputs[3]), {}};
  if (inputs.size() > 4) spans.d_lse = span(inputs[4]);
  return spans;
}

// Heads [begin, begin + count) of a [tokens, heads, ..] tensor as one of their own.
Tensor take_heads(const Tensor& all, std::int64_t begin, std::int64_t count) {
  const auto heads = all.view().slice(tensor::Axis::head, begin, count);
  Tensor taken(all.dtype(), heads.shape());
  tensor::convert(heads, taken.view());
  return taken;
}

// used / allowed of plain float arithmetic, by the bounds of the case's dtype, as kResultNames.
std::array<double, 5> float_reference_used(const Case& task, const std::vector<Tensor>& inputs,
                                           const reference::Shape& shape, double largest_logit,
                                           const TaskResults& exact) {
  std::vector<Tensor> narrow;
  for (const Tensor& input : inputs) {
    narrow.emplace_back(DType::fp32, input.shape());
    tensor::convert(input.view(), narrow.back().view());
  }
  TaskResults got(task, shape.tokens, DType::fp32);
  (void)reference::attend<float>(shape, {0, shape.tokens}, 0, input_spans<float>(narrow), got.spans<float>());

  const Rounding rounding = rounding_of(task.dtype);
  std::array<double, 5> used{};
  DocumentErrors errors;
  for (std::size_t i = 0; i < kResultNames.size(); ++i) {
    const std::string_view name = kResultNames[i];
    RowReader rows(got.results.by_name(name).view());
    const auto want = exact.results.by_name(name).view().span<double>();
    if (name == "lse") {
      errors.measure_lse({rows, 0, shape.tokens, want, {}, {}}, lse_bound(rounding, largest_logit));
    } else {
      const auto condition = static_cast<std::size_t>(
          std::find(kConditionNames.begin(), kConditionNames.end(), name) - kConditionNames.begin());
      errors.measure({rows, 0, shape.tokens, want, exact.sigma[condition].view().span<double>(),
                      exact.tau[condition].view().span<double>()},
                     error_bounds(name, rounding, largest_logit));
    }
    used[i] = errors.ratio();
  }
  return used;
}

bool float_reference_wanted(const Case& point, std::int64_t length) {
  const double flop = attention_flop(point, length) / static_cast<double>(point.kv_heads);
  return point.dtype != DType::fp64 && flop <= kFloatReferenceFlop;
}

// Copies [length, task heads, dim] doubles into rows [start, ..) and heads [head, ..) of a whole tensor.
void write_heads(std::span<const double> from, const pack::Document& rows, std::int64_t head,
                 std::int64_t task_heads, Tensor& to) {
  const std::int64_t heads = to.shape().size(tensor::Axis::head);
  const std::int64_t dim = to.shape().has(tensor::Axis::dim) ? to.shape().size(tensor::Axis::dim) : 1;
  const auto count = static_cast<std::size_t>(task_heads * dim);
  const auto all = to.view().span<double>();
  for (std::int64_t row = 0; row < rows.length; ++row) {
    const auto source = from.subspan(static_cast<std::size_t>(row) * count, count);
    const auto at = static_cast<std::size_t>(((rows.start + row) * heads + head) * dim);
    std::copy(source.begin(), source.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace

std::size_t packed_size(const Case& point, const OracleTask& task) {
  const Case one = task_case(point);
  const std::int64_t length = point.pack.documents[task.document].length;
  std::int64_t elements = 0;
  for (const std::string_view name : kResultNames) {
    elements += result_shape(one, name, length).numel() * (name == "lse" ? 1 : 3);  // and sigma, tau
  }
  return kPackedScalars + static_cast<std::size_t>(elements);
}

void OracleWorker::load_document(const OracleTask& task) {
  if (task.layer == loaded_layer_ && task.document == loaded_document_) return;
  const pack::Document& rows = point_.pack.documents[task.document];
  const auto fill = [&](InputName input, const tensor::Shape& shape) {
    loaded_.emplace_back(DType::fp64, shape);
    inputs_.fill(input, task.layer, rows.start, loaded_.back().view());
  };
  loaded_.clear();
  fill(InputName::q, result_shape(point_, "d_q", rows.length));
  fill(InputName::k, result_shape(point_, "d_k", rows.length));
  fill(InputName::v, result_shape(point_, "d_v", rows.length));
  fill(InputName::d_out, result_shape(point_, "out", rows.length));
  if (point_.inputs.d_lse) fill(InputName::d_lse, result_shape(point_, "lse", rows.length));
  loaded_layer_ = task.layer;
  loaded_document_ = task.document;
}

void OracleWorker::run(const OracleTask& task, std::span<double> packed) {
  load_document(task);
  const Case one = task_case(point_);
  const std::int64_t tokens = point_.pack.documents[task.document].length;
  const std::int64_t heads = group(point_);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < loaded_.size(); ++i) {
    const bool key = i == 1 || i == 2;
    inputs.push_back(key ? take_heads(loaded_[i], task.kv_head, 1)
                         : take_heads(loaded_[i], task.kv_head * heads, heads));
  }
  const reference::Shape shape{tokens, heads, 1, point_.head_dim, point_.v_head_dim, point_.scale()};
  TaskResults exact(one, tokens, DType::fp64);
  exact.add_condition(one, tokens);
  const reference::Condition condition = exact.condition();
  packed[0] = reference::attend<double>(shape, {0, tokens}, 0, input_spans<double>(inputs),
                                        exact.spans<double>(), &condition);
  std::array<double, 5> used;
  used.fill(std::numeric_limits<double>::quiet_NaN());
  if (float_reference_wanted(point_, tokens)) {
    used = float_reference_used(one, inputs, shape, packed[0], exact);
  }
  auto to = std::copy(used.begin(), used.end(), packed.begin() + 1);
  for (const Tensor* tensor : exact.packed()) {
    const auto values = tensor->view().span<double>();
    to = std::copy(values.begin(), values.end(), to);
  }
}

void unpack_task(const Case& point, const OracleTask& task, std::span<const double> packed,
                 OracleLayer& layer) {
  const Case one = task_case(point);
  const pack::Document& rows = point.pack.documents[task.document];
  layer.largest_logit[task.document] = std::max(layer.largest_logit[task.document], packed[0]);
  if (!layer.float_reference_used.empty()) {
    for (std::size_t i = 0; i < kResultNames.size(); ++i) {
      double& used = layer.float_reference_used[task.document][i];
      used = std::fmax(used, packed[1 + i]);  // of NaN and a number the number
    }
  }
  std::size_t at = kPackedScalars;
  const auto write = [&](std::string_view name, Tensor& to) {
    const tensor::Shape shape = result_shape(one, name, rows.length);
    const auto count = static_cast<std::size_t>(shape.numel());
    const std::int64_t heads = shape.size(tensor::Axis::head);
    write_heads(packed.subspan(at, count), rows, task.kv_head * heads, heads, to);
    at += count;
  };
  for (const std::string_view name : kResultNames) write(name, layer.results.by_name(name));
  for (const std::string& name : kConditionNames) write(name, layer.sigma.at(name));
  for (const std::string& name : kConditionNames) write(name, layer.tau.at(name));
}

}  // namespace straddle::harness
