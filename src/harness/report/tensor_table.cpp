#include "harness/report/tensor_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/report/plan_facts.hpp"
#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

// "1 (11 tokens)"
std::string document_text(const TensorVerdict& tensor) {
  return fmt::format("{} ({})", tensor.document, plural(tensor.tokens, "token"));
}

// "[2,8): 6 of 11", "[2,4) [6,8): 4 of 11", "12 ranges in [2,90): 40 of 111".
std::string rows_text(const TensorVerdict& tensor) {
  const auto& ranges = tensor.wrong_ranges;
  std::string text;
  if (ranges.size() > 2) {
    text = fmt::format("{} ranges in [{},{})", ranges.size(), ranges.front().first, ranges.back().second);
  } else {
    for (const auto& [begin, end] : ranges) {
      text += fmt::format("{}[{},{})", text.empty() ? "" : " ", begin, end);
    }
  }
  return fmt::format("{}: {} of {}", text, tensor.wrong_rows, tensor.tokens);
}

// "0 1 (all)"
std::string heads_text(const TensorVerdict& tensor, bool say_kv) {
  const bool all = static_cast<std::int64_t>(tensor.wrong_heads.size()) == tensor.heads;
  return fmt::format("{}{}{}", say_kv && is_of_kv_heads(tensor.tensor) ? "kv " : "",
                     number_list(tensor.wrong_heads), all ? " (all)" : "");
}

std::size_t name_columns(const std::vector<const TensorVerdict*>& tensors) {
  std::size_t columns = kBlockLabelColumns;
  for (const TensorVerdict* tensor : tensors) columns = std::max(columns, tensor_name(*tensor).size() + 2);
  return columns;
}

std::size_t document_columns(const std::vector<const TensorVerdict*>& tensors) {
  std::size_t columns = 16;
  for (const TensorVerdict* tensor : tensors) columns = std::max(columns, document_text(*tensor).size() + 2);
  return columns;
}

// "d_q d0: 3.2e-07 of 2.3e-06"
std::string used_text(const TensorVerdict& tensor) {
  return fmt::format("{} d{}: {} of {}", tensor_name(tensor), tensor.document, error_text(tensor.used),
                     error_text(tensor.allowed));
}

}  // namespace

std::string wrong_table(const Judgement& judgement, std::size_t width) {
  auto tensors = wrong_tensors(judgement);
  if (tensors.empty()) return "";
  const std::size_t all = tensors.size();
  tensors.resize(std::min(all, kListEntries));
  const bool kv_only = std::all_of(tensors.begin(), tensors.end(),
                                   [](const auto* tensor) { return is_of_kv_heads(tensor->tensor); });
  std::size_t rows_columns = 16;
  for (const TensorVerdict* tensor : tensors) {
    rows_columns = std::max(rows_columns, rows_text(*tensor).size() + 2);
  }
  const auto line = [&](std::string_view name, std::string_view document, std::string_view used,
                        std::string_view allowed, std::string_view ratio, std::string_view by,
                        std::string_view rows, std::string_view heads) {
    const std::string head =
        fmt::format("  {:<{}}{:<{}}{:>7}  {:>7}  {:>12}  {:<11}", name, name_columns(tensors), document,
                    document_columns(tensors), used, allowed, ratio, by);
    const std::string tail = fmt::format("{:<{}}{}", rows, rows_columns, heads);
    const std::string whole = head + tail;
    return whole.size() <= width ? whole + "\n" : fold_columns({head, tail}, 12, width);
  };
  std::string text = line("tensor", "document", "used", "allowed", "used/allowed", "by", "wrong rows",
                          kv_only ? "kv heads" : "heads");
  for (const TensorVerdict* tensor : tensors) {
    text += line(tensor_name(*tensor), document_text(*tensor), error_text(tensor->used),
                 error_text(tensor->allowed), ratio_text(tensor->ratio), name(tensor->criterion),
                 rows_text(*tensor), heads_text(*tensor, !kv_only));
  }
  if (all > tensors.size()) text += fmt::format("  .. and {} more\n", all - tensors.size());
  return text;
}

std::string whole_table(const Judgement& judgement) {
  std::vector<const TensorVerdict*> tensors;
  for (const TensorVerdict& tensor : judgement.tensors) tensors.push_back(&tensor);
  if (tensors.empty()) return "";
  std::string text = fmt::format("  {:<{}}{:<{}}{:>7}  {:>7}  {:>12}  {:>15}  by\n", "tensor",
                                 name_columns(tensors), "document", document_columns(tensors), "used",
                                 "allowed", "used/allowed", "float reference");
  for (const TensorVerdict* tensor : tensors) {
    text += fmt::format("  {:<{}}{:<{}}{:>7}  {:>7}  {:>12}  {:>15}  {}{}\n", tensor_name(*tensor),
                        name_columns(tensors), document_text(*tensor), document_columns(tensors),
                        error_text(tensor->used), error_text(tensor->allowed), ratio_text(tensor->ratio),
                        std::isnan(tensor->float_reference) ? "-" : ratio_text(tensor->float_reference),
                        name(tensor->criterion), tensor->wrong() ? "  WRONG" : "");
  }
  return text;
}

std::string passing_summary(const Judgement& judgement) {
  std::size_t passing = 0;
  const TensorVerdict* worst = nullptr;
  for (const TensorVerdict& tensor : judgement.tensors) {
    if (tensor.wrong()) continue;
    ++passing;
    if (worst == nullptr || tensor.ratio > worst->ratio) worst = &tensor;
  }
  std::string text = fmt::format("{} of {} tensors x documents pass", passing, judgement.tensors.size());
  if (worst == nullptr) return text;
  return text + fmt::format(", worst {} ({})", ratio_text(worst->ratio), used_text(*worst));
}

std::string wrong_summary(const Judgement& judgement) {
  const auto wrong = wrong_tensors(judgement);
  std::string text =
      fmt::format("{} of {} tensors x documents are wrong", wrong.size(), judgement.tensors.size());
  if (wrong.empty()) return text;
  // A ratio that is no number is the worst.
  const auto worst = std::max_element(wrong.begin(), wrong.end(), [](const auto* a, const auto* b) {
    return !std::isnan(a->ratio) && (std::isnan(b->ratio) || a->ratio < b->ratio);
  });
  return text + fmt::format(", worst {} ({})", ratio_text((*worst)->ratio), used_text(**worst));
}

}  // namespace straddle::harness
