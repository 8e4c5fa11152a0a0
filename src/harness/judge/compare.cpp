#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "harness/judge/document_errors.hpp"
#include "harness/judge/judge.hpp"
#include "harness/judge/layout.hpp"
#include "harness/judge/padding.hpp"
#include "harness/judge/tensor_verdict.hpp"

namespace straddle::harness {
namespace {

// One tensor of one layer against the oracle, document after document.
class TensorJudge {
 public:
  TensorJudge(const Case& point, std::size_t index, const LayerResults& results, const OracleLayer& oracle,
              tensor::DType dtype)
      : point_(point),
        index_(index),
        name_(kResultNames[index]),
        oracle_(oracle),
        rounding_(rounding_of(dtype)),
        got_(results.by_name(name_).view()),
        want_(oracle.results.by_name(name_).view().span<double>()) {
    if (name_ == "lse") return;
    sigma_ = oracle.sigma.at(std::string(name_)).view().span<double>();
    tau_ = oracle.tau.at(std::string(name_)).view().span<double>();
  }

  [[nodiscard]] TensorVerdict judge(std::size_t document) {
    const pack::Document& rows = point_.pack.documents[document];
    const Comparison comparison{got_,          rows.start, rows.length, of(want_, rows), of(sigma_, rows),
                                of(tau_, rows)};
    const double largest_logit = oracle_.largest_logit[document];
    if (name_ == "lse") {
      errors_.measure_lse(comparison, lse_bound(rounding_, largest_logit));
    } else {
      errors_.measure(comparison, error_bounds(name_, rounding_, largest_logit));
    }
    TensorVerdict verdict = make_verdict(errors_, comparison, point_.ranks, point_.rows_per_rank());
    verdict.tensor = name_;
    verdict.document = static_cast<std::int64_t>(document);
    verdict.float_reference = oracle_.float_reference_used.empty()
                                  ? std::numeric_limits<double>::quiet_NaN()
                                  : oracle_.float_reference_used[document][index_];
    return verdict;
  }

 private:
  // The part of a document's rows.
  [[nodiscard]] std::span<const double> of(std::span<const double> all, const pack::Document& rows) const {
    if (all.empty()) return all;
    const std::int64_t row = got_.heads() * got_.dim();
    return all.subspan(static_cast<std::size_t>(rows.start * row),
                       static_cast<std::size_t>(rows.length * row));
  }

  const Case& point_;
  std::size_t index_;
  std::string_view name_;
  const OracleLayer& oracle_;
  Rounding rounding_;
  RowReader got_;
  std::span<const double> want_, sigma_, tau_;
  DocumentErrors errors_;
};

void require_oracle(const Case& point, const OracleLayer& oracle) {
  const std::int64_t rows = oracle.results.out.shape().size(tensor::Axis::token);
  if (rows >= documents_end(point.pack) && oracle.largest_logit.size() == point.pack.documents.size()) return;
  throw std::invalid_argument(fmt::format(
      "the oracle does not belong to {}: expected {} documents ending at row {}, seen {} and {} rows",
      print(point), point.pack.documents.size(), documents_end(point.pack), oracle.largest_logit.size(),
      rows));
}

// Names whose every verdict so far, over all layers and documents, has a reference of 0.
std::vector<std::string> zero_references(const Judgement& judgement) {
  std::vector<std::string> zero;
  for (const std::string_view name : kResultNames) {
    const bool all = std::all_of(judgement.tensors.begin(), judgement.tensors.end(),
                                 [&](const auto& v) { return v.tensor != name || v.reference_zero; });
    if (all) zero.emplace_back(name);
  }
  return zero;
}

}  // namespace

void compare_layer(const Case& point, std::int64_t layer, const LayerResults& results,
                   const OracleLayer& oracle, std::optional<tensor::DType> as, Judgement& judgement) {
  require_result_shapes(point, results);
  require_oracle(point, oracle);
  for (std::size_t index = 0; index < kResultNames.size(); ++index) {
    TensorJudge judge(point, index, results, oracle, as.value_or(point.dtype));
    for (std::size_t document = 0; document < point.pack.documents.size(); ++document) {
      judgement.tensors.push_back(judge.judge(document));
      judgement.tensors.back().layer = layer;
    }
    judgement.padding.push_back(
        judge_padding(point, layer, kResultNames[index], results.by_name(kResultNames[index])));
  }
  judgement.zero_references = zero_references(judgement);
}

}  // namespace straddle::harness
