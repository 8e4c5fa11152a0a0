#include "harness/report/progress.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "hand_made.hpp"

namespace straddle::harness {
namespace {

// What a terminal shows: text from the carriage return on, erased to the end of the line.
std::string screen(const std::string& bytes) {
  std::string line;
  std::size_t cursor = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\r') {
      cursor = 0;
    } else if (bytes.compare(i, 3, "\x1b[K") == 0) {
      line.resize(cursor);
      i += 2;
    } else {
      line.resize(cursor);
      line += bytes[i];
      ++cursor;
    }
  }
  return line;
}

TEST_CASE("one line before a case, none after it, none at the end") {
  std::ostringstream err;
  const auto progress = progress_reporter(err, 412);
  progress->begin(hand_made::run());
  const CaseRecord bad = hand_made::mismatch();
  progress->before_case(bad.entry, 186);
  const std::string line = screen(err.str());
  CHECK(line.starts_with("187/412  "));
  CHECK(line.ends_with(" s  " + bad.entry.text));
  progress->after_case(bad);
  CHECK(screen(err.str()).empty());
  progress->before_case(bad.entry, 187);
  CHECK(screen(err.str()).starts_with("188/412  "));
  CHECK(screen(err.str()).ends_with(" s  1 mismatch  " + bad.entry.text));
  progress->end({});
  CHECK(screen(err.str()).empty());
}

TEST_CASE("a case that does not fit into the line is left out, never cut") {
  std::ostringstream err;
  const auto progress = progress_reporter(err, 1);
  progress->begin(hand_made::run());
  CaseEntry entry = hand_made::mismatch().entry;
  entry.text = "W4/" + std::string(100, '1');
  progress->before_case(entry, 0);
  CHECK(screen(err.str()).starts_with("1/1  "));
  CHECK(screen(err.str()).ends_with(" s"));
}

}  // namespace
}  // namespace straddle::harness
