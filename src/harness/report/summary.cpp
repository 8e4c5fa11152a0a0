#include "harness/report/summary.hpp"

#include <fmt/format.h>

#include <array>

#include "harness/report/header.hpp"
#include "harness/report/plan_facts.hpp"
#include "harness/report/repro.hpp"
#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

constexpr std::array kCounted{Verdict::pass, Verdict::mismatch, Verdict::hang,    Verdict::crash,
                              Verdict::lost, Verdict::vacuous,  Verdict::skipped, Verdict::not_applicable};

std::int64_t count_of(const RunTotals& totals, Verdict verdict) {
  const auto at = totals.count.find(verdict);
  return at == totals.count.end() ? 0 : at->second;
}

std::string_view short_name(Verdict verdict) {
  return verdict == Verdict::not_applicable ? verdict_word(verdict) : name(verdict);
}

// "412 cases in 21.4 s: 361 pass, 37 mismatch, .."; n/a only where there are some.
std::string counts_line(const RunTotals& totals, const SummaryOptions& options) {
  std::int64_t cases = 0;
  std::vector<std::string> counts;
  for (const Verdict verdict : kCounted) {
    const std::int64_t count = count_of(totals, verdict);
    cases += count;
    if (verdict == Verdict::not_applicable && count == 0) continue;
    counts.push_back(fmt::format("{} {}", count, short_name(verdict)));
  }
  const std::string seconds = options.times ? " in " + seconds_text(totals.seconds) : "";
  return wrap(fmt::format("{}{}: {}", plural(cases, "case"), seconds, fmt::join(counts, ", ")), 0, 2,
              options.width) +
         "\n";
}

std::string counted_line(std::int64_t cases, std::string_view what, const std::string& text,
                         std::size_t width) {
  const std::string head = fmt::format("{:>4} {:<10}", cases, what);
  return fmt::format("{}  {}\n", head, wrap(text, head.size() + 2, head.size() + 2, width));
}

std::string cause_text(const Cause& cause) {
  std::string text = fmt::format("cause {}: {}", cause.number, cause.text);
  if (cause.verdict == Verdict::vacuous && !cause.place.empty())
    text = fmt::format("{} {}", cause.place, text);
  text += fmt::format("; W {}, {}, {}", number_list(cause.ranks), word_list(cause.kernels, " "),
                      word_list(cause.dtypes, " "));
  if (cause.shown == cause.cases) return text;
  text += fmt::format("; {} shown, {} not", cause.shown, cause.cases - cause.shown);
  if (cause.shown == 0) text += ", first " + cause.first_case;
  return text;
}

std::string causes_lines(const Causes& causes, bool numbered, std::size_t width) {
  std::string text;
  std::size_t shown = 0;
  std::int64_t hidden_causes = 0, hidden_cases = 0;
  for (const Cause& cause : causes.by_cases()) {
    if (++shown > kListEntries) {
      ++hidden_causes;
      hidden_cases += cause.cases;
      continue;
    }
    text += counted_line(cause.cases, short_name(cause.verdict), numbered ? cause_text(cause) : cause.text,
                         width);
  }
  if (hidden_causes == 0) return text;
  return text +
         fmt::format("  .. and {} of {}\n", plural(hidden_causes, "cause"), plural(hidden_cases, "case"));
}

std::string again_line(const RunInfo& info, const RunTotals& totals, const std::string& folder) {
  for (const auto& [verdict, count] : totals.count) {
    if (is_bad(verdict) && count > 0) return fmt::format("again    {}\n", rerun_failed(info, folder));
  }
  return "again    nothing: no case failed\n";
}

}  // namespace

Causes::Counted Tally::add(const CaseRecord& record) {
  if (record.facts.rows_per_rank > 0) {
    const pack::Path& path = record.facts.path;
    if (path.reason != pack::PathReason::as_asked) {
      ++downgraded[fmt::format("{} -> {} ({})", pack::name(path.asked), pack::name(path.taken),
                               pack::name(path.reason))];
    }
  }
  if (record.verdict == Verdict::pass || record.verdict == Verdict::mismatch) {
    ++judged;
    if (!record.judgement.bits.compared) ++bits_not_compared;
  }
  if (is_bad(record.verdict)) return failed.add(record);
  if (record.verdict != Verdict::pass) static_cast<void>(left_out.add(record));
  return {0, false};
}

std::string summary(const RunInfo& info, const RunTotals& totals, const Tally& tally,
                    const SummaryOptions& options) {
  std::string text = counts_line(totals, options);
  text += causes_lines(tally.failed, true, options.width);
  text += causes_lines(tally.left_out, false, options.width);
  for (const auto& [what, cases] : tally.downgraded) {
    text += counted_line(cases, "other path", what, options.width);
  }
  if (tally.bits_not_compared > 0) {
    text += counted_line(tally.bits_not_compared, "unchecked", "bits were not compared with those of W = 1",
                         options.width);
  }
  if (tally.judged == 0) text += "  no case was judged: nothing is known to be right\n";
  if (options.not_here) text += not_here_line(info, options.width);
  const std::string folder = shown_folder(info, options.times);
  text += fmt::format("results  {}/results.jsonl\n", folder);
  text += again_line(info, totals, folder);
  return text + fmt::format("exit {} ({})\n", totals.exit_code, exit_word(totals.exit_code));
}

}  // namespace straddle::harness
