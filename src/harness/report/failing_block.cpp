#include "harness/report/failing_block.hpp"

#include <fmt/format.h>

#include "harness/report/repro.hpp"
#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

std::string vacuous_block(const CaseRecord& record, const RunInfo& info, const BlockOptions& options) {
  std::string text;
  if (!record.entry.file.empty()) {
    text =
        labelled("scenario", fmt::format("{}:{}", record.entry.file, record.entry.line), 10, options.width);
  }
  return text + repro_line(record, info);
}

}  // namespace

std::string failing_block(const CaseRecord& record, const RunInfo& info, const BlockOptions& options) {
  switch (record.verdict) {
    case Verdict::mismatch:
      return mismatch_block(record, info, options);
    case Verdict::hang:
    case Verdict::crash:
    case Verdict::lost:
      return stop_block(record, info, options);
    case Verdict::vacuous:
      return vacuous_block(record, info, options);
    case Verdict::pass:
    case Verdict::skipped:
    case Verdict::not_applicable:
      return "";
  }
  return "";
}

std::string block_heading(const CaseRecord& record, const BlockOptions& options, const std::string& more) {
  constexpr std::size_t kWordColumns = 10;
  constexpr std::size_t kCaseColumns = 40;
  std::vector<std::string> places;
  if (!record.entry.file.empty())
    places.push_back(fmt::format("{}:{}", record.entry.file, record.entry.line));
  if (options.cause > 0) places.push_back(fmt::format("cause {}", options.cause));
  if (!more.empty()) places.push_back(more);
  if (record.repetition > 0) places.push_back(fmt::format("repetition {}", record.repetition));
  const std::string_view word = verdict_word(record.verdict);
  // Folded without colour, whose bytes take no columns.
  std::string text = fold_columns(
      {fmt::format("{:<{}}{:<{}}", word, kWordColumns, record.entry.text, kCaseColumns), word_list(places)},
      kWordColumns, options.width);
  return text.replace(0, word.size(), painted(word, record.verdict, options.color));
}

std::string labelled(std::string_view label, std::string_view text, std::size_t label_columns,
                     std::size_t width) {
  constexpr std::size_t kIndent = 2;
  const std::size_t column = kIndent + label_columns;
  return fmt::format("  {:<{}}{}\n", label, label_columns, wrap(text, column, column, width));
}

std::string repro_line(const CaseRecord& record, const RunInfo& info) {
  return fmt::format("  repro: {}\n", repro(info, record));
}

}  // namespace straddle::harness
