// Short ways to load a scenario's text in tests.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/scenario/scenario.hpp"

namespace straddle::harness {

// "8:12: message [hint]" of each finding; empty where the text loads. The file stands in tests/, so that
// data/ is found from its parent.
inline std::vector<std::string> findings_of(const std::string& text) {
  try {
    (void)parse_scenario(text, STRADDLE_SOURCE_DIR "/tests/mine.toml");
    return {};
  } catch (const ScenarioError& error) {
    std::vector<std::string> lines;
    for (const Finding& finding : error.findings()) {
      lines.push_back(fmt::format("{}:{}: {}{}", finding.line, finding.column, finding.message,
                                  finding.hint.empty() ? "" : fmt::format(" [{}]", finding.hint)));
    }
    return lines;
  }
}

inline std::vector<CaseEntry> cases_of(const std::string& text) {
  return parse_scenario(text, STRADDLE_SOURCE_DIR "/tests/mine.toml").cases;
}

// The pack of a [[pack]] table with these lines.
inline pack::Pack pack_of(const std::string& lines) {
  const auto cases = cases_of("[matrix]\nranks = 1\n[[pack]]\n" + lines);
  REQUIRE(cases.size() == 1);
  return cases[0].point.pack;
}

inline std::vector<std::string> pack_findings(const std::string& lines) {
  return findings_of("[[pack]]\n" + lines);
}

inline std::vector<std::string> texts(const std::vector<CaseEntry>& cases) {
  std::vector<std::string> result;
  for (const CaseEntry& entry : cases) result.push_back(entry.text);
  return result;
}

}  // namespace straddle::harness
