#include "harness/scenario/table_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace straddle::harness {
namespace {

void add_wrong_type(const TomlValue& value, std::string_view what, std::string_view expected,
                    Findings& findings) {
  findings.add(value.place, fmt::format("{} must be {}, not {}", what, expected, value.kind()));
}

std::optional<double> read_number(const TomlValue& value, std::string_view what, Findings& findings) {
  double result = 0;
  if (const auto* integer = value.as<std::int64_t>()) {
    result = static_cast<double>(*integer);
  } else if (const auto* number = value.as<double>()) {
    result = *number;
  } else {
    add_wrong_type(value, what, "a number", findings);
    return std::nullopt;
  }
  if (std::isfinite(result)) return result;
  findings.add(value.place, fmt::format("{} must be finite, not {}", what, result));
  return std::nullopt;
}

}  // namespace

Convert<bool> boolean() {
  return [](const TomlValue& value, std::string_view what, Findings& findings) -> std::optional<bool> {
    if (const auto* boolean = value.as<bool>()) return *boolean;
    add_wrong_type(value, what, "true or false", findings);
    return std::nullopt;
  };
}

Convert<std::int64_t> integer(std::int64_t least, std::int64_t most) {
  return
      [=](const TomlValue& value, std::string_view what, Findings& findings) -> std::optional<std::int64_t> {
        const auto* integer = value.as<std::int64_t>();
        if (integer == nullptr) {
          add_wrong_type(value, what, "an integer", findings);
          return std::nullopt;
        }
        if (*integer >= least && *integer <= most) return *integer;
        const std::string bound = most == std::numeric_limits<std::int64_t>::max()
                                      ? fmt::format("at least {}", least)
                                      : fmt::format("{} to {}", least, most);
        findings.add(value.place, fmt::format("{} must be {}, not {}", what, bound, *integer));
        return std::nullopt;
      };
}

Convert<double> number(double least, double most) {
  return [=](const TomlValue& value, std::string_view what, Findings& findings) -> std::optional<double> {
    const std::optional<double> result = read_number(value, what, findings);
    if (!result || (*result >= least && *result <= most)) return result;
    findings.add(value.place, fmt::format("{} must be {} to {}, not {}", what, least, most, *result));
    return std::nullopt;
  };
}

Convert<double> positive() {
  return [](const TomlValue& value, std::string_view what, Findings& findings) -> std::optional<double> {
    const std::optional<double> result = read_number(value, what, findings);
    if (!result || *result > 0) return result;
    findings.add(value.place, fmt::format("{} must be positive, not {}", what, *result));
    return std::nullopt;
  };
}

Convert<std::string> string() {
  return [](const TomlValue& value, std::string_view what, Findings& findings) -> std::optional<std::string> {
    if (const auto* text = value.as<std::string>()) return *text;
    add_wrong_type(value, what, "a string", findings);
    return std::nullopt;
  };
}

Convert<std::string> one_of(std::vector<std::string_view> names) {
  return [names = std::move(names)](const TomlValue& value, std::string_view what,
                                    Findings& findings) -> std::optional<std::string> {
    const std::optional<std::string> text = string()(value, what, findings);
    if (!text) return std::nullopt;
    for (const std::string_view name : names) {
      if (*text == name) return text;
    }
    findings.add(value.place, fmt::format("unknown {} \"{}\"", what, *text),
                 suggestion(*text, "one of", names));
    return std::nullopt;
  };
}

TableReader::TableReader(const TomlTable& table, std::string name, std::span<const std::string_view> keys,
                         Findings& findings)
    : table_(table), findings_(findings) {
  for (const TomlEntry& entry : table) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
    findings.add(entry.place, fmt::format("unknown key \"{}\" in {}", entry.key, name),
                 suggestion(entry.key, "keys here", keys));
  }
}

void TableReader::refuse(std::string_view key, const std::string& reason) {
  if (const TomlEntry* found = entry(key)) {
    findings_.add(found->place, fmt::format("{} can't be given here: {}", key, reason));
  }
}

std::optional<std::vector<std::int64_t>> TableReader::integers(std::string_view key, bool may_be_empty) {
  const TomlEntry* found = entry(key);
  if (found == nullptr) return std::nullopt;
  const auto* list = found->value.as<TomlArray>();
  if (list == nullptr) {
    add_wrong_type(found->value, key, "a list of integers", findings_);
    return std::nullopt;
  }
  if (list->empty() && !may_be_empty) {
    findings_.add(found->value.place, fmt::format("{} is empty: at least one value is needed", key));
    return std::nullopt;
  }
  std::vector<std::int64_t> result;
  result.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto* element = (*list)[i].as<std::int64_t>();
    if (element != nullptr) {
      result.push_back(*element);
    } else {
      add_wrong_type((*list)[i], fmt::format("{}[{}]", key, i), "an integer", findings_);
    }
  }
  if (result.size() != list->size()) return std::nullopt;
  return result;
}

std::vector<const TomlValue*> TableReader::elements(const TomlEntry& entry) {
  const auto* list = entry.value.as<TomlArray>();
  if (list == nullptr) return {&entry.value};
  if (list->empty()) {
    findings_.add(entry.value.place, fmt::format("{} is empty: at least one value is needed", entry.key));
  }
  std::vector<const TomlValue*> result;
  for (const TomlValue& element : *list) result.push_back(&element);
  return result;
}

std::string TableReader::repeated(std::string_view key) {
  return fmt::format("{} names this value twice: it would run the same cases again", key);
}

}  // namespace straddle::harness
