#include "harness/report/case_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/plan_facts.hpp"
#include "harness/report/sentence.hpp"
#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kVerdictColumns = 9;
constexpr std::size_t kCaseColumns = 43;
constexpr std::size_t kHeadColumns = kVerdictColumns + kCaseColumns;
constexpr std::size_t kPathColumns = 16;

// The columns behind the path; the fields of a line and of the heading alike.
std::string measures(const CaseRecord& record, bool times) {
  const TensorVerdict* const worst = record.judgement.worst();
  const BitsVerdict& bits = record.judgement.bits;
  std::string where;
  if (worst != nullptr) {
    where = fmt::format("{} d{}", worst->tensor, worst->document);
    if (record.entry.point.layers > 1) where += fmt::format(" l{}", worst->layer);
  }
  std::string text = fmt::format("{:>8}{:>7} {:<9}{:>2}", bytes_text(record.facts.forward_bytes),
                                 worst == nullptr ? "-" : ratio_text(worst->ratio), where,
                                 !bits.compared         ? "-"
                                 : has_bits_of_w1(bits) ? "="
                                                        : "!");
  if (times) text += fmt::format("{:>5}", ms_text(record.ms));
  if (record.repetition > 0) text += fmt::format("  repetition {}", record.repetition);
  return text;
}

std::string blanks(std::int64_t count) { return std::string(static_cast<std::size_t>(count), ' '); }

// Head, path, and the measures, whose right edge stays where it is. For a long head the path moves to the
// right as far as the measures let it; then it goes into a line of its own with them.
std::string in_columns(const std::string& head, std::size_t head_size, const std::string& path,
                       const std::string& measured, std::size_t width) {
  const std::string right = measured.substr(measured.find_first_not_of(' '));
  const auto right_at = static_cast<std::int64_t>(
      std::min(kHeadColumns + kPathColumns + measured.size(), width) - std::min(right.size(), width));
  const auto head_columns = static_cast<std::int64_t>(head_size);
  const auto path_columns = static_cast<std::int64_t>(path.size());
  const auto usual = static_cast<std::int64_t>(kHeadColumns);
  const std::int64_t latest = right_at - 1 - path_columns;
  const std::int64_t beside_head = std::min(std::max(usual, head_columns + 1), latest);
  const bool fits = beside_head > head_columns;
  const std::int64_t column =
      fits ? beside_head : std::max(static_cast<std::int64_t>(kVerdictColumns), std::min(usual, latest));
  return head + (fits ? blanks(column - head_columns) : "\n" + blanks(column)) + path +
         blanks(std::max<std::int64_t>(1, right_at - column - path_columns)) + right + "\n";
}

// A sentence behind the head where it fits, else in lines of its own.
std::string with_sentence(const std::string& head, std::size_t head_columns, const std::string& sentence,
                          std::size_t width) {
  if (sentence.empty()) return head + "\n";
  const std::size_t column = std::max(kHeadColumns, head_columns + 1);
  if (column + sentence.size() <= width) {
    return head + std::string(column - head_columns, ' ') + sentence + "\n";
  }
  return fmt::format("{}\n{}{}\n", head, std::string(kVerdictColumns, ' '),
                     wrap(sentence, kVerdictColumns, kVerdictColumns, width));
}

}  // namespace

std::string table_heading(const LineOptions& options) {
  std::string text = fmt::format("{:<{}}{:<{}}{:<{}}{:>9}{:>12}{:>6}", "verdict", kVerdictColumns, "case",
                                 kCaseColumns, "path taken", kPathColumns, "K/V moved", "used worst", "bits");
  if (options.times) text += fmt::format("{:>5}", "ms");
  if (text.size() <= options.width) return text + "\n";
  return "verdict  case, and what follows it: path taken, K/V moved, used worst, bits" +
         std::string(options.times ? ", ms" : "") + "\n";
}

std::string case_line(const CaseRecord& record, const LineOptions& options) {
  const std::string_view word = verdict_word(record.verdict);
  const std::string head = painted(word, record.verdict, options.color) +
                           std::string(kVerdictColumns - std::min(word.size(), kVerdictColumns - 1), ' ') +
                           record.entry.text;
  const std::size_t head_columns = kVerdictColumns + record.entry.text.size();
  const bool judged = record.verdict == Verdict::pass || record.verdict == Verdict::mismatch;
  return judged ? in_columns(head, head_columns, path_text(record), measures(record, options.times),
                             options.width)
                : with_sentence(head, head_columns, in_short(record), options.width);
}

}  // namespace straddle::harness
