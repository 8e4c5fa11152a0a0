// Comparing a text with a stored one, byte for byte.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace straddle::harness {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// With one blank for each run of blanks and line breaks: what a text says, wherever its lines break.
inline std::string unwrapped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) result += c;
    if (blank && (result.empty() || result.back() != ' ')) result += ' ';
  }
  return result;
}

inline bool holds(const std::string& text, const std::string& part) {
  return unwrapped(text).find(unwrapped(part)) != std::string::npos;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The lines that differ, expected before seen; empty where there are none.
inline std::string difference(const std::string& expected, const std::string& seen) {
  if (expected == seen) return "";
  const auto want = lines_of(expected);
  const auto got = lines_of(seen);
  std::string text;
  for (std::size_t i = 0; i < std::max(want.size(), got.size()); ++i) {
    const bool in_both = i < want.size() && i < got.size();
    if (in_both && want[i] == got[i]) continue;
    if (i < want.size()) text += fmt::format("{:>3} - {}\n", i + 1, want[i]);
    if (i < got.size()) text += fmt::format("{:>3} + {}\n", i + 1, got[i]);
  }
  return text.empty() ? "only the end of the last line differs" : text;
}

// The file tests/harness/report/golden/NAME holds this text. After a wanted change take the lines marked +
// over.
inline void check_golden(const std::string& name, const std::string& seen) {
  const std::string path = fmt::format("{}/tests/harness/report/golden/{}", STRADDLE_SOURCE_DIR, name);
  const std::string differs = difference(content_of(path), seen);
  CHECK_MESSAGE(differs.empty(), name, ", - golden, + seen:\n", differs);
}

}  // namespace straddle::harness
