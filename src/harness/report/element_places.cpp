#include "harness/report/element_places.hpp"

#include <fmt/format.h>

#include <cmath>

#include "harness/report/failing_block.hpp"
#include "harness/report/plan_facts.hpp"
#include "harness/report/tensor_table.hpp"
#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

using Tensors = std::vector<const TensorVerdict*>;

std::string cut_text(std::int64_t token, const Case& point) {
  const std::int64_t rows = point.rows_per_rank();
  const std::int64_t before = token / rows;  // the cut before|after this rank's rows is at (before + 1) L
  const std::int64_t to_next = (before + 1) * rows - token;
  const std::int64_t from_last = token % rows;
  const bool has_next = before + 1 < point.ranks;
  const bool has_last = before > 0;
  if (has_next && (!has_last || to_next <= from_last)) {
    return fmt::format("; {} before cut {}|{} (token {})", plural(to_next, "row"), before, before + 1,
                       token + to_next);
  }
  if (!has_last) return "";
  const std::string where = from_last == 0 ? "right behind" : plural(from_last, "row") + " behind";
  return fmt::format("; {} cut {}|{} (token {})", where, before - 1, before, token - from_last);
}

bool is_worse(const TensorVerdict& a, const TensorVerdict& b) {
  if (std::isnan(a.ratio) || std::isnan(b.ratio)) return std::isnan(a.ratio) && !std::isnan(b.ratio);
  return a.ratio > b.ratio;
}

// The worst document of each tensor, in the order of the judgement.
Tensors worst_of_each(const Tensors& wrong) {
  Tensors worst;
  for (const TensorVerdict* tensor : wrong) {
    if (!worst.empty() && worst.back()->tensor == tensor->tensor && worst.back()->layer == tensor->layer) {
      if (is_worse(*tensor, *worst.back())) worst.back() = tensor;
    } else {
      worst.push_back(tensor);
    }
  }
  return worst;
}

std::string first_text(const Tensors& wrong, const Case& point) {
  const TensorVerdict* first = nullptr;
  for (const TensorVerdict* tensor : wrong) {
    if (!tensor->first) continue;
    if (first == nullptr || tensor->first->token < first->first->token) first = tensor;
  }
  if (first == nullptr) return "no element or row by itself: only the norm over a document is over its bound";
  return fmt::format("{} {}", tensor_name(*first), place_text(*first->first, first->document, point));
}

}  // namespace

std::string place_text(const Place& place, std::int64_t document, const Case& point) {
  std::string text = fmt::format("token {} = rank {} row {}", place.token, place.rank, place.local_row);
  text += document < 0 ? std::string(", a row of padding")
                       : fmt::format(" = document {} row {}", document, place.document_row);
  return text + cut_text(place.token, point);
}

std::string values_text(const std::string& tensor, std::int64_t layer, const Place& place) {
  const std::string dim = tensor == "lse" ? "" : fmt::format(", {}", place.dim);
  return fmt::format("{}[{}, {} {}{}] got {:.5g} want {:.5g}", tensor_name(tensor, layer), place.token,
                     is_of_kv_heads(tensor) ? "kv" : "head", place.head, dim, place.got, place.want);
}

std::string first_and_worst(const CaseRecord& record, std::size_t width) {
  const Tensors wrong = wrong_tensors(record.judgement);
  if (wrong.empty()) return "";
  const Case& point = record.entry.point;
  std::string text = labelled("first", first_text(wrong, point), kBlockLabelColumns, width);
  const Tensors worst = worst_of_each(wrong);
  const TensorVerdict* worst_of_all = nullptr;
  std::vector<std::string> values;
  for (const TensorVerdict* tensor : worst) {
    if (!tensor->worst) continue;
    if (worst_of_all == nullptr || is_worse(*tensor, *worst_of_all)) worst_of_all = tensor;
    if (values.size() < kListEntries)
      values.push_back(values_text(tensor->tensor, tensor->layer, *tensor->worst));
  }
  if (worst_of_all == nullptr) return text;
  text += labelled("worst",
                   fmt::format("{} {}", tensor_name(*worst_of_all),
                               place_text(*worst_of_all->worst, worst_of_all->document, point)),
                   kBlockLabelColumns, width);
  constexpr std::size_t kColumn = 2 + kBlockLabelColumns;
  values.front().insert(0, std::string(kColumn, ' '));
  return text + fold_columns(values, kColumn, width);
}

}  // namespace straddle::harness
