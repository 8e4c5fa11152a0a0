#include "harness/scenario/toml_tree.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <tuple>

namespace straddle::harness {
namespace {

TomlPlace place_of(const toml::source_region& source) {
  TomlPlace place{std::max<std::int64_t>(source.begin.line, 1),
                  std::max<std::int64_t>(source.begin.column, 1), 1};
  if (source.end.line == source.begin.line && source.end.column > source.begin.column) {
    place.length = static_cast<std::int64_t>(source.end.column) - source.begin.column;
  }
  return place;
}

TomlValue value_of(const toml::node& node);

TomlTable table_of(const toml::table& table) {
  TomlTable entries;
  for (const auto& [key, node] : table) {
    entries.push_back({std::string(key.str()), place_of(key.source()), value_of(node)});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const TomlEntry& a, const TomlEntry& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  return entries;
}

TomlValue value_of(const toml::node& node) {
  TomlValue value{place_of(node.source()), TomlOther{}};
  if (const auto* boolean = node.as_boolean()) value.content = boolean->get();
  if (const auto* integer = node.as_integer()) value.content = integer->get();
  if (const auto* number = node.as_floating_point()) value.content = number->get();
  if (const auto* text = node.as_string()) value.content = text->get();
  if (const auto* table = node.as_table()) value.content = table_of(*table);
  if (const auto* array = node.as_array()) {
    TomlArray values;
    values.reserve(array->size());
    for (const auto& element : *array) values.push_back(value_of(element));
    value.content = std::move(values);
  }
  return value;
}

}  // namespace

std::string_view TomlValue::kind() const {
  constexpr std::string_view kKinds[] = {"a boolean", "an integer", "a float",         "a string",
                                         "a list",    "a table",    "a date or a time"};
  return kKinds[content.index()];
}

std::variant<TomlTable, TomlSyntaxError> parse_toml(std::string_view text) {
  try {
    return table_of(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return TomlSyntaxError{place_of(error.source()), std::string(error.description())};
  }
}

const TomlEntry* find(const TomlTable& table, std::string_view key) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const TomlEntry& entry) { return entry.key == key; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace straddle::harness
