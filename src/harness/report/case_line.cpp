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

// The columns behind the case; the fields of a line and of the heading alike.
std::string measured(std::string_view path, std::string_view moved, std::string_view ratio,
                     std::string_view where, std::string_view bits) {
  return fmt::format("{:<16}{:>8}{:>7} {:<9}{:>2}", path, moved, ratio, where, bits);
}

std::string measured(const CaseRecord& record, bool times) {
  const TensorVerdict* const worst = record.judgement.worst();
  const BitsVerdict& bits = record.judgement.bits;
  std::string where;
  if (worst != nullptr) {
    where = fmt::format("{} d{}", worst->tensor, worst->document);
    if (record.entry.point.layers > 1) where += fmt::format(" l{}", worst->layer);
  }
  std::string text = measured(path_text(record), bytes_text(record.facts.forward_bytes),
                              worst == nullptr ? "-" : ratio_text(worst->ratio), where,
                              !bits.compared         ? "-"
                              : has_bits_of_w1(bits) ? "="
                                                     : "!");
  if (times) text += fmt::format("{:>5}", ms_text(record.ms));
  if (record.repetition > 0) text += fmt::format("  repetition {}", record.repetition);
  return text;
}

// The head, and behind it, or in a line of its own, the rest; at its column, or further left where it would
// pass the width.
std::string with_rest(const std::string& head, std::size_t head_columns, const std::string& rest,
                      std::size_t width) {
  const std::size_t room = width > rest.size() ? width - rest.size() : 0;
  const std::size_t column = std::min(kHeadColumns, room);
  if (column > head_columns) return head + std::string(column - head_columns, ' ') + rest + "\n";
  return fmt::format("{}\n{}{}\n", head, std::string(std::max(column, kVerdictColumns), ' '), rest);
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
  std::string text = fmt::format("{:<{}}{:<{}}{:<16}{:>9}{:>12}{:>6}", "verdict", kVerdictColumns, "case",
                                 kCaseColumns, "path taken", "K/V moved", "used worst", "bits");
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
  return judged ? with_rest(head, head_columns, measured(record, options.times), options.width)
                : with_sentence(head, head_columns, in_short(record), options.width);
}

}  // namespace straddle::harness
