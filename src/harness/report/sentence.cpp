#include "harness/report/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/layout.hpp"
#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

using Tensors = std::vector<const TensorVerdict*>;

std::vector<std::string> names_of(const Tensors& tensors) {
  std::vector<std::string> names;
  for (const TensorVerdict* tensor : tensors) names.push_back(tensor->tensor);
  return distinct(names);
}

std::vector<std::int64_t> documents_of(const Tensors& tensors) {
  std::vector<std::int64_t> documents;
  for (const TensorVerdict* tensor : tensors) documents.push_back(tensor->document);
  return ascending(std::move(documents));
}

std::string ranks_text(const Tensors& tensors) {
  std::vector<std::int64_t> ranks;
  for (const TensorVerdict* tensor : tensors) {
    for (std::size_t rank = 0; rank < tensor->wrong_by_rank.size(); ++rank) {
      if (tensor->wrong_by_rank[rank]) ranks.push_back(static_cast<std::int64_t>(rank));
    }
  }
  ranks = ascending(std::move(ranks));
  if (ranks.empty()) return "";
  return fmt::format(" on rank{} {}", ranks.size() == 1 ? "" : "s", number_list(ranks));
}

std::string layers_text(const Tensors& tensors, const Case& point) {
  if (point.layers == 1) return "";
  std::vector<std::int64_t> layers;
  for (const TensorVerdict* tensor : tensors) layers.push_back(tensor->layer);
  layers = ascending(std::move(layers));
  return fmt::format(" in layer{} {}", layers.size() == 1 ? "" : "s", number_list(layers));
}

// "Backward only: out, lse, d_q pass."
std::string passing_text(const Judgement& judgement, const std::vector<std::string>& wrong) {
  std::vector<std::string> passing;
  for (const TensorVerdict& tensor : judgement.tensors) {
    if (std::find(wrong.begin(), wrong.end(), tensor.tensor) == wrong.end()) passing.push_back(tensor.tensor);
  }
  passing = distinct(passing);
  if (passing.empty()) return " No tensor passes.";
  const auto forward = std::count_if(wrong.begin(), wrong.end(), [](const auto& t) { return is_forward(t); });
  std::string_view stage;
  if (forward == 0) stage = "Backward only: ";
  if (forward == static_cast<std::ptrdiff_t>(wrong.size())) stage = "Forward only: ";
  return fmt::format(" {}{} pass{}.", stage, word_list(passing), passing.size() == 1 ? "es" : "");
}

std::vector<std::string> wrong_padding(const Judgement& judgement) {
  std::vector<std::string> names;
  for (const PaddingVerdict& tensor : judgement.padding) {
    if (tensor.wrong_rows > 0) names.push_back(tensor.tensor);
  }
  return distinct(names);
}

std::vector<std::string> broken_invariants(const Judgement& judgement) {
  std::vector<std::string> ids;
  for (const InvariantVerdict& invariant : judgement.invariants) {
    if (invariant.broken()) ids.push_back(invariant.id);
  }
  return distinct(ids);
}

// What is wrong beside the tensors' real rows.
std::vector<std::string> other_faults(const CaseRecord& record) {
  std::vector<std::string> faults;
  const Judgement& judgement = record.judgement;
  if (const auto names = wrong_padding(judgement); !names.empty()) {
    faults.push_back(fmt::format("padding rows of {} do not hold what they must", word_list(names)));
  }
  if (const auto ids = broken_invariants(judgement); !ids.empty()) {
    faults.push_back(fmt::format("{} {} broken", word_list(ids, " "), ids.size() == 1 ? "is" : "are"));
  }
  if (judgement.bits.compared && !has_bits_of_w1(judgement.bits)) {
    faults.emplace_back("the bits differ from W1");
  }
  if (record.plan_judgement.wrong()) faults.emplace_back("the plan is wrong with the fp64 kernel");
  if (record.stored_judgement.wrong()) faults.emplace_back("the results stored in the file differ");
  return faults;
}

// One line, whatever the reasons hold.
std::string joined_reasons(const CaseRecord& record) {
  std::string text = word_list(record.reasons, "; ");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string mismatch_in_short(const CaseRecord& record) {
  const Tensors wrong = wrong_tensors(record.judgement);
  if (wrong.empty()) {
    const auto faults = other_faults(record);
    return fmt::format("Every tensor is within its bounds, but {}.",
                       faults.empty() ? joined_reasons(record) : word_list(faults));
  }
  const auto names = names_of(wrong);
  return fmt::format("{} of {} {} wrong{}{}.{}", word_list(names),
                     documents_text(documents_of(wrong), record.entry.point.pack.documents.size()),
                     names.size() == 1 ? "is" : "are", layers_text(wrong, record.entry.point),
                     ranks_text(wrong), passing_text(record.judgement, names));
}

std::string kind_of_documents(const Tensors& wrong, const Case& point) {
  bool on_one = false, on_several = false;
  for (const std::int64_t document : documents_of(wrong)) {
    const auto& documents = point.pack.documents;
    if (static_cast<std::size_t>(document) >= documents.size()) continue;
    const RankRange ranks = ranks_of(documents[static_cast<std::size_t>(document)], point.rows_per_rank());
    (ranks.count() > 1 ? on_several : on_one) = true;
  }
  if (on_one == on_several || point.ranks == 1) return "documents";
  return on_several ? "documents on several ranks" : "documents on one rank";
}

std::string kind_of_error(const Tensors& wrong) {
  const auto all = [&](Criterion criterion) {
    return std::all_of(wrong.begin(), wrong.end(),
                       [&](const TensorVerdict* tensor) { return tensor->criterion == criterion; });
  };
  if (all(Criterion::not_finite)) return "not finite";
  return all(Criterion::exact_zero) ? "not exactly 0" : "wrong";
}

}  // namespace

std::string in_short(const CaseRecord& record) {
  if (record.verdict == Verdict::pass) return "";
  if (record.verdict == Verdict::mismatch) return mismatch_in_short(record);
  return joined_reasons(record);
}

std::string signature(const CaseRecord& record) {
  if (record.verdict != Verdict::mismatch) return joined_reasons(record);
  const Tensors wrong = wrong_tensors(record.judgement);
  const std::string where =
      record.entry.point.ranks == 1 ? "W = 1" : std::string(pack::name(record.facts.path.taken));
  if (wrong.empty()) {
    const auto faults = other_faults(record);
    return fmt::format("{} ({})", faults.empty() ? joined_reasons(record) : word_list(faults), where);
  }
  return fmt::format("{} {} in {} ({})", word_list(names_of(wrong)), kind_of_error(wrong),
                     kind_of_documents(wrong, record.entry.point), where);
}

}  // namespace straddle::harness
