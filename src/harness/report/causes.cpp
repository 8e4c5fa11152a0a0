#include "harness/report/causes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/sentence.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

// Each run of numbers as one #: "b = 0 0 0" and "b = 0 0" say the same.
std::string without_numbers(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789";
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (kDigits.find(text[i]) == std::string_view::npos) {
      result += text[i++];
      continue;
    }
    const std::size_t end = std::min(text.find_first_not_of("0123456789. ", i), text.size());
    result += text[end - 1] == ' ' ? "# " : "#";
    i = end;
  }
  return result;
}

std::string place_of(const CaseEntry& entry) {
  return entry.file.empty() ? "" : fmt::format("{}:{}", entry.file, entry.line);
}

void add_once(std::vector<std::string>& values, const std::string& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

std::string key_of(const CaseRecord& record) {
  const std::string text = signature(record);
  switch (record.verdict) {
    case Verdict::mismatch:
    case Verdict::skipped:
    case Verdict::not_applicable:
      return fmt::format("{} {}", name(record.verdict), text);
    case Verdict::vacuous:
      return fmt::format("{} {} {}", name(record.verdict), record.entry.file, without_numbers(text));
    default:
      return fmt::format("{} {}", name(record.verdict), without_numbers(text));
  }
}

}  // namespace

Causes::Counted Causes::add(const CaseRecord& record) {
  const auto [at, is_new] = index_.emplace(key_of(record), causes_.size());
  if (is_new) {
    Cause& cause = causes_.emplace_back();
    cause.number = static_cast<std::int64_t>(causes_.size());
    cause.verdict = record.verdict;
    cause.text = signature(record);
    cause.first_case = record.entry.text;
    cause.place = place_of(record.entry);
  }
  Cause& cause = causes_[at->second];
  const Case& point = record.entry.point;
  ++cause.cases;
  cause.ranks.push_back(point.ranks);
  cause.ranks = ascending(std::move(cause.ranks));
  add_once(cause.kernels, point.kernel);
  add_once(cause.dtypes, std::string(tensor::name(point.dtype)));
  const bool show = cause.shown < blocks_;
  if (show) ++cause.shown;
  return {cause.number, show};
}

std::vector<Cause> Causes::by_cases() const {
  std::vector<Cause> sorted = causes_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Cause& a, const Cause& b) { return a.cases > b.cases; });
  return sorted;
}

}  // namespace straddle::harness
