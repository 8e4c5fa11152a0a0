// Typed access to one table of a scenario file; whatever is wrong becomes a finding and reads as absent.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/findings.hpp"
#include "harness/scenario/toml_tree.hpp"

namespace straddle::harness {

template <class T>
struct Placed {
  T value;
  TomlPlace place;
};

// The values of one scalar key, which may have been written as a list: one axis of the matrix.
template <class T>
using ValueList = std::vector<Placed<T>>;

// Reads one value or adds a finding. what: "heads", for messages.
template <class T>
using Convert = std::function<std::optional<T>(const TomlValue&, std::string_view what, Findings&)>;

[[nodiscard]] Convert<bool> boolean();
[[nodiscard]] Convert<std::int64_t> integer(std::int64_t least, std::int64_t most);
[[nodiscard]] Convert<double> number(double least, double most);  // finite; an integer will do
[[nodiscard]] Convert<double> positive();                         // finite
[[nodiscard]] Convert<std::string> string();
[[nodiscard]] Convert<std::string> one_of(std::vector<std::string_view> names);

class TableReader {
 public:
  // name: "[matrix]". Keys that are not in `keys` become findings here.
  TableReader(const TomlTable& table, std::string name, std::span<const std::string_view> keys,
              Findings& findings);

  [[nodiscard]] const TomlEntry* entry(std::string_view key) const { return find(table_, key); }
  [[nodiscard]] bool has(std::string_view key) const { return entry(key) != nullptr; }

  // The key must be absent: `reason` says why.
  void refuse(std::string_view key, const std::string& reason);

  template <class T>
  [[nodiscard]] std::optional<T> value(std::string_view key, const Convert<T>& convert) {
    const TomlEntry* found = entry(key);
    return found == nullptr ? std::nullopt : convert(found->value, key, findings_);
  }

  // One value or a list of different ones; `otherwise` if the key is absent.
  template <class T>
  [[nodiscard]] ValueList<T> values(std::string_view key, const Convert<T>& convert,
                                    const std::vector<T>& otherwise) {
    ValueList<T> result;
    const TomlEntry* found = entry(key);
    if (found == nullptr) {
      for (const T& value : otherwise) result.push_back({value, {}});
      return result;
    }
    for (const TomlValue* element : elements(*found)) {
      const std::optional<T> value = convert(*element, key, findings_);
      if (!value) continue;
      for (const Placed<T>& earlier : result) {
        if (earlier.value == *value) findings_.add(element->place, repeated(key));
      }
      result.push_back({*value, element->place});
    }
    return result;
  }

  // A list of integers, possibly empty only if `may_be_empty`.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view key, bool may_be_empty);

 private:
  [[nodiscard]] std::vector<const TomlValue*> elements(const TomlEntry& entry);
  [[nodiscard]] static std::string repeated(std::string_view key);

  const TomlTable& table_;
  Findings& findings_;
};

}  // namespace straddle::harness
