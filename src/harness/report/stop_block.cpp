#include <fmt/format.h>

#include <algorithm>

#include "harness/report/failing_block.hpp"
#include "harness/report/plan_facts.hpp"
#include "harness/report/rank_places.hpp"
#include "harness/report/sentence.hpp"
#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kLabelColumns = 8;

// The heading's table: one line for all ranks that stand at the same operation.
std::string ranks_table(const std::vector<RankPlace>& all, const BlockOptions& options) {
  const std::vector<RankPlace> places = rarest(all, kListEntries);
  std::size_t call_columns = 0, sent_columns = 0, before_columns = 0, rank_columns = kLabelColumns;
  for (const RankPlace& place : places) {
    rank_columns = std::max(rank_columns, number_list(place.ranks).size() + 2);
    call_columns = std::max(call_columns, place.call.size());
    sent_columns =
        std::max(sent_columns, std::max(sent_text(place).size(), std::string_view("sends").size()));
    before_columns = std::max(before_columns, place.before.size());
  }
  const RankPlace* const odd = odd_one_out(places);
  const auto line = [&](std::string_view ranks, std::string_view call, std::string_view state,
                        std::string_view sent, std::string_view waited, std::string_view before,
                        std::string_view mark) {
    std::string head = fmt::format("  {:<{}}{:<{}}  {:<7} {:>{}}", ranks, rank_columns, call, call_columns,
                                   state, sent, sent_columns);
    if (options.times) head += fmt::format("  {:>7}", waited);
    std::string tail(before);
    if (!mark.empty()) tail = fmt::format("{:<{}}  {}", before, before_columns, mark);
    return fold_columns({head, tail}, 2 + rank_columns, options.width);
  };
  std::string text = line("ranks", "operation", "state", "sends", "for", "before it", "");
  for (const RankPlace& place : places) {
    const std::string waited = place.posted_s < 0 ? "" : seconds_text(place.posted_s);
    text += line(number_list(place.ranks), place.call, place.past ? "past" : "posted", sent_text(place),
                 waited, place.before, &place == odd ? "<==" : "");
  }
  if (places.size() < all.size()) {
    text += fmt::format("  .. and {} of more ranks\n",
                        plural(static_cast<std::int64_t>(all.size() - places.size()), "place"));
  }
  return text;
}

std::string logs_text(const CaseRecord& record, const RunInfo& info, const BlockOptions& options) {
  const std::string folder = shown_folder(info, options.times);
  if (folder.empty() || record.verdict != Verdict::hang) return "";
  const std::string last = info.ranks > 1 ? fmt::format(" .. rank{}.log", info.ranks - 1) : "";
  return labelled("logs", fmt::format("{}/rank0.log{}", folder, last), kLabelColumns, options.width);
}

}  // namespace

std::string stop_block(const CaseRecord& record, const RunInfo& info, const BlockOptions& options) {
  const bool deadline = record.verdict == Verdict::hang && info.timeout_s > 0;
  std::string text =
      block_heading(record, options, deadline ? fmt::format("deadline {:g} s", info.timeout_s) : "");
  const std::string cause = in_short(record);
  text += labelled("cause", cause.empty() ? "nothing is known of it" : cause, kLabelColumns, options.width);
  if (!record.where.empty()) text += ranks_table(places_of_ranks(record.where), options);
  return text + logs_text(record, info, options) + repro_line(record, info);
}

}  // namespace straddle::harness
