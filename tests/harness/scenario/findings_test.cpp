#include "harness/scenario/findings.hpp"

#include <doctest/doctest.h>

#include <array>

namespace straddle::harness {
namespace {

constexpr std::array<std::string_view, 5> kKeys = {"ranks", "exchange", "kernel", "dtype", "reduce"};

// The picture of docs/scenarios.md: message, source line, caret, legal values, and the count at the end.
TEST_CASE("findings print with file, line, column, the line itself and what is legal") {
  Findings findings("scenarios/mine.toml",
                    "\n\n\n\n\n\nheads = 4\nkv_heads = 3\n\n\n\n\nexchanges = [\"a2a\"]\n");
  findings.add({13, 1, 9}, "unknown key \"exchanges\" in [matrix]",
               suggestion("exchanges", "keys here", kKeys));
  findings.add({8, 12, 1}, "kv_heads 3 does not divide heads 4 (line 7)", "one of 1, 2, 4");
  const ScenarioError error(findings.sorted(), 31);
  CHECK(std::string(error.what()) ==
        "scenarios/mine.toml:8:12: error: kv_heads 3 does not divide heads 4 (line 7)\n"
        "   8 | kv_heads = 3\n"
        "     |            ^ one of 1, 2, 4\n"
        "scenarios/mine.toml:13:1: error: unknown key \"exchanges\" in [matrix]\n"
        "  13 | exchanges = [\"a2a\"]\n"
        "     | ^~~~~~~~~ did you mean \"exchange\"? keys here: ranks, exchange, kernel, dtype, reduce\n"
        "2 errors in 1 of 31 files; nothing was run.");
}

TEST_CASE("a finding of a whole file has no line") {
  const ScenarioError error({{"gone.toml", 0, 0, 1, "no such file or folder", {}, {}}});
  CHECK(std::string(error.what()) ==
        "gone.toml: error: no such file or folder\n1 error in 1 of 1 file; nothing was run.");
}

TEST_CASE("source lines stay ASCII and at most 100 columns, the caret on its character") {
  const std::string value = "\"x\"";
  Findings findings("a.toml", "k = [" + std::string(300, ' ') + value + "]\n\t\"\xc3\xa4\" = 1\n");
  findings.add({1, 306, 3}, "too far");
  findings.add({2, 6, 1}, "umlaut");
  const auto sorted = findings.sorted();
  const std::string far = text(sorted[0]);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < far.size();) {
    const std::size_t end = far.find('\n', begin);
    lines.push_back(far.substr(begin, end - begin));
    begin = end + 1;
  }
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) CHECK(line.size() <= 100);
  CHECK(lines[1].find(value) == lines[2].find('^'));
  CHECK(text(sorted[1]) == "a.toml:2:6: error: umlaut\n   2 |  \"?\" = 1\n     |      ^\n");
}

TEST_CASE("nearest finds the key that was meant, and nothing where none was") {
  CHECK(nearest("exchanges", kKeys) == "exchange");
  CHECK(nearest("rank", kKeys) == "ranks");
  CHECK(nearest("dtpye", kKeys).empty());  // two edits in five letters
  CHECK(nearest("kernels", kKeys) == "kernel");
  CHECK(nearest("documents", kKeys).empty());
  CHECK(nearest("", kKeys).empty());
  CHECK(suggestion("documents", "keys here", kKeys) == "keys here: ranks, exchange, kernel, dtype, reduce");
}

}  // namespace
}  // namespace straddle::harness
