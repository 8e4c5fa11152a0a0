// Small texts that all reports share: numbers in few digits, lists that fold, lines of a width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace straddle::harness {

// Errors in two digits: "4.7e-01", "0", "inf", "nan".
[[nodiscard]] std::string error_text(double error);

// used / allowed in two digits: "0.14", "72", "256", "1.9e5", "0", "inf". Never rounded across 1: what is
// over the bound does not print as 1.0, nor what is within.
[[nodiscard]] std::string ratio_text(double ratio);

// "0.4" and "512" are milliseconds, "1.2 s" and "75 s" are more than a second.
[[nodiscard]] std::string ms_text(double ms);
[[nodiscard]] std::string seconds_text(double seconds);  // "9.8 s", "412 s"

[[nodiscard]] std::string plural(std::int64_t count, std::string_view noun);  // "1 case", "2 cases"

// "0-2 5 7": runs of three or more fold, and after 8 entries ".. and 12 more". Ascending.
[[nodiscard]] std::string number_list(const std::vector<std::int64_t>& numbers);

// With `separator` between them; after 8 entries ".. and 12 more".
[[nodiscard]] std::string word_list(const std::vector<std::string>& words, std::string_view separator = ", ");

// The text from `column` of a line on, broken between words where it would pass `width`; further lines start
// at `indent`. A word (a case text is one) is never broken. A line break in the text becomes "; ".
[[nodiscard]] std::string wrap(std::string_view text, std::size_t column, std::size_t indent,
                               std::size_t width);

// A line with a gap of three between columns, which goes on in a further line, indented, where a column does
// not fit. Ends with a line break; trailing spaces are cut.
[[nodiscard]] std::string fold_columns(const std::vector<std::string>& columns, std::size_t indent,
                                       std::size_t width);

}  // namespace straddle::harness
