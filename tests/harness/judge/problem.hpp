// Small problems for the tests of the judge: a case, its inputs as a table, its oracle, and results that are
// right.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/world.hpp"
#include "harness/inputs/inputs.hpp"
#include "harness/judge/judge.hpp"
#include "harness/judge/layout.hpp"
#include "harness/judge/oracle.hpp"
#include "harness/judge/row_reader.hpp"

namespace straddle::harness::test {

using tensor::DType;
using tensor::Tensor;

struct Size {
  std::int64_t heads = 4, kv_heads = 2, head_dim = 4, v_head_dim = 4;
};

inline Case make_case(const std::vector<std::int64_t>& lengths, std::int64_t padding, std::int64_t ranks,
                      DType dtype = DType::fp32, const Size& size = {}) {
  Case point;
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    point.pack.documents.push_back({start, length});
    start += length;
  }
  point.pack.slots = start + padding;
  point.ranks = ranks;
  point.dtype = dtype;
  point.heads = size.heads;
  point.kv_heads = size.kv_heads;
  point.head_dim = size.head_dim;
  point.v_head_dim = size.v_head_dim;
  return point;
}

inline void round_to(DType dtype, Tensor& values) {
  Tensor stored(dtype, values.shape());
  tensor::convert(values.view(), stored.view());
  tensor::convert(stored.view(), values.view());
}

// Layer l's tensor `name`, element (token, head, dim).
using Value = std::function<double(const std::string&, std::int64_t, std::int64_t, std::int64_t)>;

inline Value standard_normal(std::uint64_t seed) {
  auto engine = std::make_shared<std::mt19937_64>(seed);
  auto normal = std::make_shared<std::normal_distribution<double>>();
  return [=](const std::string&, std::int64_t, std::int64_t, std::int64_t) { return (*normal)(*engine); };
}

// Inputs of all layers as fp64 tables [slots, ..] that hold values of the case's storage dtype.
class TableInputs : public Inputs {
 public:
  TableInputs(const Case& point, const Value& value) {
    for (std::int64_t layer = 0; layer < point.layers; ++layer) layers_.push_back(make_layer(point, value));
  }
  void fill(InputName input, std::int64_t layer, std::int64_t begin,
            const tensor::View& rows) const override {
    const Tensor& table = layers_[static_cast<std::size_t>(layer)].at(std::string(name(input)));
    tensor::convert(table.view().slice(tensor::Axis::token, begin, rows.size(tensor::Axis::token)), rows);
  }
  [[nodiscard]] const std::map<std::string, Tensor>& layer(std::size_t layer) const { return layers_[layer]; }

 private:
  static std::map<std::string, Tensor> make_layer(const Case& point, const Value& value) {
    std::map<std::string, Tensor> layer;
    const std::map<std::string, std::string> like = {
        {"q", "d_q"}, {"k", "d_k"}, {"v", "d_v"}, {"d_out", "out"}, {"d_lse", "lse"}};
    for (const std::string input : {"q", "k", "v", "d_out", "d_lse"}) {
      Tensor table(DType::fp64, result_shape(point, like.at(input), point.pack.slots));
      const std::int64_t heads = table.shape().size(tensor::Axis::head);
      const std::int64_t row = point.pack.slots == 0 ? 1 : table.shape().numel() / point.pack.slots;
      const std::int64_t dim = row / heads;
      const auto all = table.view().span<double>();
      for (std::int64_t i = 0; i < table.shape().numel(); ++i) {
        all[static_cast<std::size_t>(i)] = value(input, i / row, i % row / dim, i % dim);
      }
      if (!all.empty())
        round_to(input == "d_lse" ? tensor::accumulation_dtype(point.dtype) : point.dtype, table);
      layer.emplace(input, std::move(table));
    }
    return layer;
  }

  std::vector<std::map<std::string, Tensor>> layers_;
};

inline std::vector<OracleLayer> oracle_of(const Case& point, const Inputs& inputs) {
  return compute_oracle(point, inputs, *comm::self_transport());
}

// The exact results in this dtype, rounded once, with 0 and -inf on the padding rows of the case.
inline LayerResults right_results(const Case& point, const OracleLayer& oracle, DType dtype) {
  LayerResults results;
  const std::int64_t rows = documents_end(point.pack);
  const std::int64_t slots = point.padded().slots;
  for (const std::string_view name : kResultNames) {
    Tensor wide(DType::fp64, result_shape(point, name, slots));
    const auto all = wide.view().span<double>();
    std::fill(all.begin(), all.end(), name == "lse" ? -std::numeric_limits<double>::infinity() : 0);
    tensor::convert(oracle.results.by_name(name).view().slice(tensor::Axis::token, 0, rows),
                    wide.view().slice(tensor::Axis::token, 0, rows));
    Tensor& to = results.by_name(name);
    to = Tensor(name == "lse" ? tensor::accumulation_dtype(dtype) : dtype, wide.shape());
    tensor::convert(wide.view(), to.view());
  }
  return results;
}

inline LayerResults copy(const LayerResults& results) {
  LayerResults copied;
  for (const std::string_view name : kResultNames) {
    const Tensor& from = results.by_name(name);
    copied.by_name(name) = Tensor(from.dtype(), from.shape());
    tensor::convert(from.view(), copied.by_name(name).view());
  }
  return copied;
}

// Reads and writes one element by its index in order, whatever the tensor stores.
inline double get(const Tensor& tensor, std::int64_t index) {
  RowReader reader(tensor.view());
  const std::int64_t dim = reader.dim();
  return reader.row(index / dim / reader.heads(), index / dim % reader.heads())[index % dim];
}
inline void set(Tensor& tensor, std::int64_t index, double value) {
  Tensor one(DType::fp64, tensor::token_major(1, 1));
  one.view().span<double>()[0] = value;
  Tensor stored(tensor.dtype(), one.shape());
  tensor::convert(one.view(), stored.view());
  const std::size_t bytes = tensor::size_bytes(tensor.dtype());
  std::copy_n(stored.view().data(), bytes, tensor.view().data() + static_cast<std::size_t>(index) * bytes);
}

inline std::int64_t index_of(const Tensor& tensor, std::int64_t token, std::int64_t head, std::int64_t dim) {
  const std::int64_t heads = tensor.shape().size(tensor::Axis::head);
  const std::int64_t dims =
      tensor.shape().has(tensor::Axis::dim) ? tensor.shape().size(tensor::Axis::dim) : 1;
  return (token * heads + head) * dims + dim;
}

// One case with normal inputs, its oracle and right results.
struct Problem {
  Case point;
  TableInputs inputs;
  std::vector<OracleLayer> oracle;
  LayerResults right;  // of layer 0, in the case's dtype

  explicit Problem(const Case& a_case, std::uint64_t seed = 7) : Problem(a_case, standard_normal(seed)) {}
  Problem(const Case& a_case, const Value& value)
      : point(a_case),
        inputs(a_case, value),
        oracle(oracle_of(a_case, inputs)),
        right(right_results(a_case, oracle[0], a_case.dtype)) {}

  [[nodiscard]] Judgement compare(const LayerResults& results) const {
    Judgement judgement;
    compare_layer(point, 0, results, oracle[0], std::nullopt, judgement);
    return judgement;
  }
};

inline const TensorVerdict& verdict_of(const Judgement& judgement, std::string_view tensor,
                                       std::int64_t document) {
  for (const TensorVerdict& verdict : judgement.tensors) {
    if (verdict.tensor == tensor && verdict.document == document) return verdict;
  }
  throw std::logic_error("no such verdict");
}

inline std::vector<std::string> wrong_tensors(const Judgement& judgement) {
  std::vector<std::string> wrong;
  for (const TensorVerdict& verdict : judgement.tensors) {
    if (verdict.wrong()) wrong.push_back(verdict.tensor + " d" + std::to_string(verdict.document));
  }
  return wrong;
}

}  // namespace straddle::harness::test
