#include "harness/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "harness/report/plan_facts.hpp"

namespace straddle::harness {
namespace {

// "1.9e+05" as "1.9e5".
std::string short_exponent(double value) {
  std::string text = fmt::format("{:.1e}", value);
  const std::size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  return fmt::format("{}e{}", text.substr(0, e), exponent);
}

std::string more(std::size_t count) { return fmt::format(" .. and {} more", count); }

}  // namespace

std::string error_text(double error) {
  if (error == 0) return "0";
  return fmt::format("{:.1e}", error);
}

std::string ratio_text(double ratio) {
  if (ratio == 0) return "0";
  if (!std::isfinite(ratio)) return fmt::format("{}", ratio);
  if (ratio < 1 && ratio >= 0.995) return "0.99";
  if (ratio > 1 && ratio < 1.05) return "1.1";
  if (ratio >= 999.5 || ratio < 0.00995) return short_exponent(ratio);
  if (ratio >= 9.95) return fmt::format("{:.0f}", ratio);
  if (ratio >= 0.995) return fmt::format("{:.1f}", ratio);
  return ratio >= 0.0995 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.3f}", ratio);
}

std::string ms_text(double ms) {
  if (ms < 9.95) return fmt::format("{:.1f}", ms);
  if (ms < 999.5) return fmt::format("{:.0f}", ms);
  return seconds_text(ms / 1000);
}

std::string seconds_text(double seconds) {
  return seconds < 99.95 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string number_list(const std::vector<std::int64_t>& numbers) {
  std::string text;
  std::size_t entries = 0;
  for (std::size_t i = 0; i < numbers.size(); ++entries) {
    if (entries == kListEntries) return text + more(numbers.size() - i);
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ' ';
    if (end - i >= 3) {
      text += fmt::format("{}-{}", numbers[i], numbers[end - 1]);
      i = end;
    } else {
      text += fmt::format("{}", numbers[i]);
      ++i;
    }
  }
  return text;
}

std::string word_list(const std::vector<std::string>& words, std::string_view separator) {
  const std::size_t shown = std::min(words.size(), kListEntries);
  std::string text = fmt::format("{}", fmt::join(std::span(words).first(shown), separator));
  return shown == words.size() ? text : text + more(words.size() - shown);
}

std::string wrap(std::string_view text, std::size_t column, std::size_t indent, std::size_t width) {
  std::string flat;
  for (const char c : text) {
    if (c == '\n') {
      flat += "; ";
    } else {
      flat += c;
    }
  }
  std::string result;
  bool line_is_empty = true;
  for (std::size_t at = 0; at < flat.size();) {
    const std::size_t end = std::min(flat.find(' ', at), flat.size());
    const std::string_view word(flat.data() + at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (!line_is_empty && column + 1 + word.size() > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
      line_is_empty = true;
    }
    if (!line_is_empty) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    line_is_empty = false;
  }
  return result;
}

std::string fold_columns(const std::vector<std::string>& columns, std::size_t indent, std::size_t width) {
  constexpr std::size_t kGap = 3;
  std::string text, line;
  const auto end_line = [&] {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  for (const std::string& column : columns) {
    if (column.empty()) continue;
    if (line.empty()) {
      line = column;
    } else if (line.size() + kGap + column.size() <= width) {
      line += std::string(kGap, ' ') + column;
    } else {
      end_line();
      line = std::string(indent, ' ') + column;
    }
  }
  end_line();
  return text;
}

}  // namespace straddle::harness
