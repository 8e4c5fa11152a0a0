#include "harness/cli/selection.hpp"

#include <doctest/doctest.h>

#include <string>

#include "harness/cli/launch.hpp"

namespace straddle::harness {
namespace {

// By definition: every way to spend the pattern's stars.
bool matches_by_definition(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (matches_by_definition(text.substr(skip), pattern.substr(1))) return true;
    }
    return false;
  }
  return !text.empty() && (pattern.front() == '?' || pattern.front() == text.front()) &&
         matches_by_definition(text.substr(1), pattern.substr(1));
}

TEST_CASE("matches: every text of up to 5 letters against every pattern of up to 4 signs with a wildcard") {
  const auto all = [](const std::string& alphabet, std::size_t longest) {
    std::vector<std::string> words = {""};
    for (std::size_t from = 0, length = 0; length < longest; ++length) {
      const std::size_t end = words.size();
      for (; from < end; ++from) {
        for (const char c : alphabet) words.push_back(words[from] + c);
      }
    }
    return words;
  };
  const auto texts = all("ab", 5);
  for (const std::string& pattern : all("ab*?", 4)) {
    if (pattern.find_first_of("*?") == std::string::npos) continue;
    for (const std::string& text : texts) {
      CAPTURE(text);
      CAPTURE(pattern);
      REQUIRE(matches(text, pattern) == matches_by_definition(text, pattern));
    }
  }
}

TEST_CASE("matches: without a wildcard a pattern matches wherever it stands") {
  CHECK(matches("W4/2,11,3+0/H4:2", "11,3"));
  CHECK(matches("anything", ""));
  CHECK_FALSE(matches("W4/2", "W2"));
}

TEST_CASE("select_cases: texts, random cases, and nothing at all") {
  SelectionArguments arguments;
  CHECK_THROWS_AS(static_cast<void>(select_cases(arguments, 4)), UsageError);
  arguments.cases = {"W2/5,3+0/H4:2/D64/fp32/a2a/cpu/s7"};
  CHECK(select_cases(arguments, 4).cases.size() == 1);
  arguments.match = "W3";
  CHECK_THROWS_AS(static_cast<void>(select_cases(arguments, 4)), NoScenario);
  arguments = {};
  arguments.random = 10;
  const Selection random = select_cases(arguments, 4);
  CHECK(random.cases.size() == 10);
  CHECK_FALSE(random.histogram.empty());
  arguments.cases = {"W2/p0123456789abcdef/H4:2/D64/fp32/a2a/cpu/s7"};
  CHECK_THROWS_AS(static_cast<void>(select_cases(arguments, 4)), UsageError);
}

}  // namespace
}  // namespace straddle::harness
