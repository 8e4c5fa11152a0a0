#include "harness/scenario/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace straddle::harness {
namespace {

constexpr std::size_t kLongestSourceLine = 88;  // with the line number in front: 100 columns at most

// One printable ASCII character for each character of the (UTF-8) line, so that carets stand right.
std::string printable(std::string_view line) {
  std::string result;
  for (const char character : line) {
    const auto byte = static_cast<unsigned char>(character);
    if ((byte & 0xC0) == 0x80) continue;  // the rest of a character
    if (character == '\t') {
      result += ' ';
    } else {
      result += byte >= 0x20 && byte < 0x7F ? character : '?';
    }
  }
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substituted}));
    }
  }
  return row.back();
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string all_text(const std::vector<Finding>& findings, std::size_t files) {
  std::string result;
  std::set<std::string> bad_files;
  for (const Finding& finding : findings) {
    result += text(finding);
    bad_files.insert(finding.file);
  }
  return result + fmt::format("{} in {} of {}; nothing was run.", plural(findings.size(), "error"),
                              bad_files.size(), plural(std::max(files, bad_files.size()), "file"));
}

}  // namespace

Findings::Findings(std::string file, std::string_view text) : file_(std::move(file)) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines_.push_back(printable(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void Findings::add(const TomlPlace& place, std::string message, std::string hint) {
  const auto index = static_cast<std::size_t>(place.line - 1);
  findings_.push_back({file_, place.line, place.column, place.length, std::move(message), std::move(hint),
                       index < lines_.size() ? lines_[index] : std::string()});
}

std::vector<Finding> Findings::sorted() const {
  std::vector<Finding> result = findings_;
  std::stable_sort(result.begin(), result.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return result;
}

std::string text(const Finding& finding) {
  if (finding.line == 0) {
    return fmt::format("{}: error: {}\n{}", finding.file, finding.message,
                       finding.hint.empty() ? "" : fmt::format("     | {}\n", finding.hint));
  }
  std::string source = finding.source_line;
  auto column = static_cast<std::size_t>(std::max<std::int64_t>(finding.column, 1));
  if (source.size() > kLongestSourceLine) {
    const std::size_t skipped = column > kLongestSourceLine / 2 ? column - kLongestSourceLine / 2 : 0;
    const std::size_t begin = std::min(skipped, source.size() - kLongestSourceLine);
    source = source.substr(begin, kLongestSourceLine);
    column -= std::min(begin, column - 1);
    if (begin > 0) source.replace(0, 2, "..");
  }
  const std::size_t rest = source.size() >= column ? source.size() - column + 1 : 1;
  const auto length =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(finding.length, 1)), 1, rest);
  return fmt::format("{}:{}:{}: error: {}\n{:4} | {}\n     | {}^{}{}{}\n", finding.file, finding.line,
                     finding.column, finding.message, finding.line, source, std::string(column - 1, ' '),
                     std::string(length - 1, '~'), finding.hint.empty() ? "" : " ", finding.hint);
}

ScenarioError::ScenarioError(std::vector<Finding> findings, std::size_t files)
    : std::runtime_error(all_text(findings, files)), findings_(std::move(findings)) {}

std::string join(std::span<const std::string_view> names, std::string_view separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : names) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance > std::max<std::size_t>(candidate.size() / 3, 1)) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, std::string_view what,
                       std::span<const std::string_view> names) {
  const std::string_view meant = nearest(name, names);
  return fmt::format("{}{}: {}", meant.empty() ? "" : fmt::format("did you mean \"{}\"? ", meant), what,
                     join(names));
}

}  // namespace straddle::harness
