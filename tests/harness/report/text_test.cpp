#include "harness/report/text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <set>
#include <sstream>

#include "golden.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("a ratio has two digits and never crosses 1") {
  CHECK(ratio_text(0.14) == "0.14");
  CHECK(ratio_text(1.9e5) == "1.9e5");
  CHECK(ratio_text(256) == "256");
  CHECK(ratio_text(72.4) == "72");
  CHECK(ratio_text(0.0721) == "0.072");
  CHECK(ratio_text(7.2e-4) == "7.2e-4");
  CHECK(ratio_text(0) == "0");
  CHECK(ratio_text(INFINITY) == "inf");
  CHECK(ratio_text(1) == "1.0");
  CHECK(ratio_text(std::nextafter(1, 2)) == "1.1");
  CHECK(ratio_text(std::nextafter(1, 0)) == "0.99");
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> exponent(-8, 8);
  for (int i = 0; i < 20000; ++i) {
    const double ratio = std::pow(10.0, exponent(random));
    const std::string text = ratio_text(ratio);
    CAPTURE(ratio);
    CAPTURE(text);
    REQUIRE(text.size() <= 6);
    const double read = std::stod(text);
    REQUIRE((read > 1) == (ratio > 1));
    REQUIRE(read == doctest::Approx(ratio).epsilon(0.06));
  }
}

TEST_CASE("errors, milliseconds and seconds") {
  CHECK(error_text(0.472) == "4.7e-01");
  CHECK(error_text(0) == "0");
  CHECK(error_text(NAN) == "nan");
  CHECK(error_text(INFINITY) == "inf");
  CHECK(ms_text(0.44) == "0.4");
  CHECK(ms_text(9.96) == "10");
  CHECK(ms_text(999.4) == "999");
  CHECK(ms_text(999.6) == "1.0 s");
  CHECK(seconds_text(21.44) == "21.4 s");
  CHECK(seconds_text(412.3) == "412 s");
  CHECK(plural(1, "row") == "1 row");
  CHECK(plural(0, "row") == "0 rows");
}

// The numbers that a list shows, and how many it says it leaves out.
std::pair<std::vector<std::int64_t>, std::size_t> read_list(const std::string& text) {
  std::vector<std::int64_t> numbers;
  std::size_t left_out = 0;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    if (word == "..") {
      stream >> word >> left_out >> word;
    } else {
      const std::size_t dash = word.find('-');
      const std::int64_t first = std::stoll(word.substr(0, dash));
      const std::int64_t last = dash == std::string::npos ? first : std::stoll(word.substr(dash + 1));
      for (std::int64_t number = first; number <= last; ++number) numbers.push_back(number);
    }
  }
  return {numbers, left_out};
}

TEST_CASE("a list of numbers loses none: every set of 12") {
  CHECK(number_list({0, 1, 2, 5, 7, 8}) == "0-2 5 7 8");
  CHECK(number_list({}).empty());
  for (unsigned bits = 0; bits < (1U << 12); ++bits) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t number = 0; number < 12; ++number) {
      if ((bits >> number & 1U) != 0) numbers.push_back(number);
    }
    CAPTURE(bits);
    REQUIRE(read_list(number_list(numbers)) == std::pair(numbers, std::size_t{0}));
  }
}

TEST_CASE("a long list shows 8 entries and counts the others") {
  std::vector<std::int64_t> even;
  for (std::int64_t number = 0; number < 40; number += 2) even.push_back(number);
  CHECK(number_list(even) == "0 2 4 6 8 10 12 14 .. and 12 more");
  CHECK(word_list({"a", "b", "c", "d", "e", "f", "g", "h"}) == "a, b, c, d, e, f, g, h");
  CHECK(word_list({"a", "b", "c", "d", "e", "f", "g", "h", "i"}) == "a, b, c, d, e, f, g, h .. and 1 more");
}

TEST_CASE("wrapped text keeps its words, fills its lines and breaks no word") {
  std::mt19937 random(5);
  for (int repeat = 0; repeat < 500; ++repeat) {
    std::vector<std::string> words(random() % 30 + 1);
    for (std::string& word : words)
      word = std::string(random() % 40 + 1, static_cast<char>('a' + random() % 26));
    const std::string text = fmt::format("{}", fmt::join(words, " "));
    const std::size_t indent = random() % 20;
    const std::size_t column = random() % 30;
    const std::size_t width = 50;
    const std::string wrapped = wrap(text, column, indent, width);
    std::istringstream stream(wrapped);
    std::vector<std::string> seen;
    for (std::string word; stream >> word;) seen.push_back(word);
    REQUIRE(seen == words);
    const auto lines = lines_of(wrapped);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t start = i == 0 ? column : 0;
      const bool one_word = lines[i].find(' ', i == 0 ? 0 : indent) == std::string::npos;
      REQUIRE((start + lines[i].size() <= width || one_word));
      if (i + 1 == lines.size()) continue;
      const std::string next = lines[i + 1].substr(indent, lines[i + 1].find(' ', indent) - indent);
      REQUIRE(start + lines[i].size() + 1 + next.size() > width);
    }
  }
  CHECK(wrap("one\ntwo", 0, 0, 80) == "one; two");
}

TEST_CASE("columns fold between columns") {
  CHECK(fold_columns({"aaaa", "bbbb", "cccc"}, 2, 20) == "aaaa   bbbb   cccc\n");
  CHECK(fold_columns({"aaaa", "bbbb", "cccc"}, 2, 17) == "aaaa   bbbb\n  cccc\n");
  CHECK(fold_columns({"aaaa", "", "cccc"}, 2, 17) == "aaaa   cccc\n");
  CHECK(fold_columns({"aaaaaaaaaaaaaaaaaaaaaaaaa", "b  "}, 2, 17) == "aaaaaaaaaaaaaaaaaaaaaaaaa\n  b\n");
}

}  // namespace
}  // namespace straddle::harness
