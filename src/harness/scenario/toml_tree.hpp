// A TOML document as a tree of values that know where they stand, so that only toml_tree.cpp sees toml++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace straddle::harness {

// Line and column from 1, columns in characters; length of the text on its first line.
struct TomlPlace {
  std::int64_t line = 1;
  std::int64_t column = 1;
  std::int64_t length = 1;
};

struct TomlValue;
struct TomlEntry;
using TomlArray = std::vector<TomlValue>;
using TomlTable = std::vector<TomlEntry>;  // in the order of the file
struct TomlOther {                         // dates and times, which no key here takes
  bool operator==(const TomlOther&) const = default;
};

struct TomlValue {
  TomlPlace place;
  std::variant<bool, std::int64_t, double, std::string, TomlArray, TomlTable, TomlOther> content;

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&content);
  }
  [[nodiscard]] std::string_view kind() const;  // "an integer", "a list", ..
};

struct TomlEntry {
  std::string key;
  TomlPlace place;  // of the key
  TomlValue value;
};

// text is no TOML: toml++'s own message and place.
struct TomlSyntaxError {
  TomlPlace place;
  std::string message;
};

[[nodiscard]] std::variant<TomlTable, TomlSyntaxError> parse_toml(std::string_view text);
[[nodiscard]] const TomlEntry* find(const TomlTable& table, std::string_view key);

}  // namespace straddle::harness
