#include <fmt/format.h>

#include <algorithm>

#include "harness/report/element_places.hpp"
#include "harness/report/failing_block.hpp"
#include "harness/report/rank_picture.hpp"
#include "harness/report/sentence.hpp"
#include "harness/report/tensor_table.hpp"
#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

// Rows that belong to no document, a verdict of their own.
std::string padding_text(const CaseRecord& record) {
  std::vector<std::string> wrong;
  const PaddingVerdict* first = nullptr;
  for (const PaddingVerdict& padding : record.judgement.padding) {
    if (padding.wrong_rows == 0) continue;
    wrong.push_back(fmt::format("{} ({} of {} rows)", tensor_name(padding.tensor, padding.layer),
                                padding.wrong_rows, padding.rows));
    if (first == nullptr && padding.first) first = &padding;
  }
  if (wrong.empty()) return "";
  std::string text = word_list(wrong) + " must hold exactly 0 (lse: -inf)";
  if (first == nullptr) return text;
  return fmt::format("{}; first: {}, {}", text, values_text(first->tensor, first->layer, *first->first),
                     place_text(*first->first, -1, record.entry.point));
}

// "13 of 15 tensors x documents pass, ..; 5 padding rows exact"
std::string rest_text(const Judgement& judgement) {
  std::int64_t rows = 0, wrong = 0;
  for (const PaddingVerdict& padding : judgement.padding) {
    rows = std::max(rows, padding.rows);
    wrong += padding.wrong_rows;
  }
  const std::string text = passing_summary(judgement);
  return rows == 0 || wrong > 0 ? text : fmt::format("{}; {} exact", text, plural(rows, "padding row"));
}

// "I2 I3 fail for d1, I16 fails for d0 d1": those that fail for the same documents together.
std::string invariants_text(const Judgement& judgement) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> by_id;
  for (const InvariantVerdict& invariant : judgement.invariants) {
    if (!invariant.broken()) continue;
    auto at = by_id.begin();
    while (at != by_id.end() && at->first != invariant.id) ++at;
    if (at == by_id.end()) at = by_id.insert(at, {invariant.id, {}});
    if (invariant.document >= 0) at->second.push_back(invariant.document);
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < by_id.size(); ++i) by_id[i].second = ascending(by_id[i].second);
  while (!by_id.empty()) {
    const std::vector<std::int64_t> documents = by_id.front().second;
    std::vector<std::string> ids;
    for (const auto& [id, of_id] : by_id) {
      if (of_id == documents) ids.push_back(id);
    }
    std::erase_if(by_id, [&](const auto& entry) { return entry.second == documents; });
    std::string text = fmt::format("{} fail{}", word_list(ids, " "), ids.size() == 1 ? "s" : "");
    if (!documents.empty())
      text += fmt::format(" for document{} {}", documents.size() == 1 ? "" : "s", number_list(documents));
    texts.push_back(text);
  }
  return texts.empty() ? "" : word_list(texts) + " (no oracle needed)";
}

std::string bits_text(const BitsVerdict& bits) {
  if (!bits.compared) return "bits not compared with W1";
  if (!bits.equal) return fmt::format("bits differ from W1: {}", bits.difference);
  if (!has_bits_of_w1(bits)) {
    return fmt::format("{:.2g} % of the elements of d_k, d_v of a document differ from W1, {:.2g} % may",
                       100 * bits.changed_share_d_kv, 100 * bits.allowed_share);
  }
  return "out lse d_q have the bits of W1";
}

std::string besides_text(const Judgement& judgement) {
  const std::string invariants = invariants_text(judgement);
  if (!invariants.empty()) return invariants + "; " + bits_text(judgement.bits);
  if (judgement.invariants.empty()) return "no invariant was checked; " + bits_text(judgement.bits);
  return fmt::format("{} hold; {}",
                     plural(static_cast<std::int64_t>(judgement.invariants.size()), "invariant check"),
                     bits_text(judgement.bits));
}

// Where a debugger looks first.
std::int64_t rank_of_worst(const Judgement& judgement) {
  const auto wrong = wrong_tensors(judgement);
  for (const TensorVerdict* tensor : wrong) {
    if (tensor == judgement.worst() && tensor->worst) return tensor->worst->rank;
  }
  return wrong.empty() || !wrong.front()->worst ? 0 : wrong.front()->worst->rank;
}

}  // namespace

std::string mismatch_block(const CaseRecord& record, const RunInfo& info, const BlockOptions& options) {
  const Judgement& judgement = record.judgement;
  const auto line = [&](std::string_view label, std::string_view text) {
    return text.empty() ? std::string() : labelled(label, text, kBlockLabelColumns, options.width);
  };
  std::string text = block_heading(record, options) + line("in short", in_short(record));
  text += wrong_table(judgement, options.width) + line("the rest", rest_text(judgement));
  text += line("padding", padding_text(record));
  text += first_and_worst(record, options.width) + rank_pictures(record, options.width);
  text += line("besides", besides_text(judgement));
  for (const std::string& reason : record.reasons) text += line("also", reason);
  if (record.plan_judgement.wrong()) {
    text += line("plan", "the same plan with the fp64 kernel: " + wrong_summary(record.plan_judgement));
  }
  if (record.stored_judgement.wrong()) {
    text += line("stored", fmt::format("against the results stored in {}: {}", record.entry.point.inputs.file,
                                       wrong_summary(record.stored_judgement)));
  }
  text += repro_line(record, info);
  return text + fmt::format("  then:  --debug-rank {} (waits for gdb), --save DIR (tensors)\n",
                            rank_of_worst(judgement));
}

}  // namespace straddle::harness
