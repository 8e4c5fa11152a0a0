#include "harness/report/case_details.hpp"

#include <fmt/format.h>

#include "harness/report/failing_block.hpp"
#include "harness/report/plan_facts.hpp"
#include "harness/report/rank_places.hpp"
#include "harness/report/tensor_table.hpp"
#include "harness/report/text.hpp"

namespace straddle::harness {
namespace {

// One value a rank; the first 8 and how many more.
std::string of_ranks(const std::vector<std::int64_t>& values) {
  std::vector<std::string> texts;
  for (const std::int64_t value : values) texts.push_back(std::to_string(value));
  return word_list(texts, " ");
}

std::string moved_text(std::int64_t moved, std::int64_t form) {
  if (moved == form) return fmt::format("{} = closed form", bytes_text(moved));
  return fmt::format("{} B, closed form {} B", moved, form);
}

std::string checksums_text(const CaseRecord& record) {
  std::vector<std::string> texts;
  for (const std::string_view result : kResultNames) {
    const auto sum = record.checksums.find(std::string(result));
    if (sum != record.checksums.end()) texts.push_back(fmt::format("{} {:016x}", result, sum->second));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string case_details(const CaseRecord& record, std::size_t width) {
  const CaseFacts& facts = record.facts;
  if (facts.rows_per_rank == 0) return "";
  const auto line = [&](std::string_view label, const std::string& text) {
    return text.empty() ? "" : labelled(label, text, kBlockLabelColumns, width);
  };
  std::string text =
      line("facts", fmt::format("L = {}; b = {}; real rows {}; pairs {}; kernel {}", facts.rows_per_rank,
                                of_ranks(facts.straddles), of_ranks(facts.real_rows), of_ranks(facts.pairs),
                                facts.kernel));
  if (!facts.path.detail.empty()) text += line("path", facts.path.detail);
  text += line("bytes", fmt::format("K/V forward {}; dK/dV backward {}",
                                    moved_text(facts.forward_bytes, facts.forward_bytes_form),
                                    moved_text(facts.backward_bytes, facts.backward_bytes_form)));
  text += line("checksums", checksums_text(record));
  return text + whole_table(record.judgement);
}

std::string operations(const CaseRecord& record, std::size_t width) {
  std::string text;
  const auto all = places_of_ranks(record.where);
  const auto shown = rarest(all, kListEntries);
  for (const RankPlace& place : shown) {
    const std::string sent = sent_text(place).empty() ? "" : fmt::format(", sends {}", sent_text(place));
    const std::string before = place.before.empty() ? "" : "; before it " + place.before;
    text += labelled("ranks",
                     fmt::format("{}: {}{}{}{}", number_list(place.ranks), place.past ? "past " : "",
                                 place.call, sent, before),
                     kBlockLabelColumns, width);
  }
  if (shown.size() == all.size()) return text;
  return text +
         labelled("", fmt::format(".. and {} more", all.size() - shown.size()), kBlockLabelColumns, width);
}

}  // namespace straddle::harness
