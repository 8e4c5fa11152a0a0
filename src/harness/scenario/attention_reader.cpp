#include "harness/scenario/attention_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "harness/scenario/limits.hpp"
#include "harness/scenario/table_reader.hpp"

namespace straddle::harness {
namespace {

constexpr std::array<std::string_view, 8> kKeys = {"heads",      "kv_heads",           "head_dim",
                                                   "v_head_dim", "softmax_scale",      "layers",
                                                   "recompute",  "first_segment_apart"};

// "8:1" or 8: two numbers that vary together, or the first alone.
struct Pair {
  std::int64_t first = 0;
  std::optional<std::int64_t> second;
  bool operator==(const Pair&) const = default;
};

Convert<Pair> pair_or_integer(std::int64_t most) {
  return [most](const TomlValue& value, std::string_view what, Findings& findings) -> std::optional<Pair> {
    const auto* text = value.as<std::string>();
    if (text == nullptr) {
      const auto number = integer(1, most)(value, what, findings);
      return number ? std::optional(Pair{*number, {}}) : std::nullopt;
    }
    const auto number_in = [&](std::string_view part) -> std::optional<std::int64_t> {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
      const bool right = error == std::errc{} && end == part.data() + part.size();
      return right && number >= 1 && number <= most ? std::optional(number) : std::nullopt;
    };
    const std::size_t colon = text->find(':');
    const auto first = number_in(std::string_view(*text).substr(0, colon));
    const auto second =
        colon == std::string::npos ? std::nullopt : number_in(std::string_view(*text).substr(colon + 1));
    if (first && (second || colon == std::string::npos)) return Pair{*first, second};
    findings.add(value.place, fmt::format("{} must be numbers of 1 to {} as \"a:b\" or \"a\", not \"{}\"",
                                          what, most, *text));
    return std::nullopt;
  };
}

// The second key must be absent where the first one already holds pairs.
bool paired(const ValueList<Pair>& list, std::string_view first_key, std::string_view second_key,
            TableReader& table) {
  for (const auto& pair : list) {
    if (!pair.value.second) continue;
    table.refuse(second_key, fmt::format("{} already says it after the colon", first_key));
    return true;
  }
  return false;
}

std::string divisors(std::int64_t number) {
  std::string text;
  for (std::int64_t divisor = 1; divisor <= number; ++divisor) {
    if (number % divisor == 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", divisor);
  }
  return text;
}

void add_heads(const Placed<Pair>& heads, std::int64_t kv_heads, const TomlPlace& place, Matrix& matrix,
               Findings& findings) {
  if (heads.value.first % kv_heads == 0) {
    matrix.heads.push_back({heads.value.first, kv_heads});
    return;
  }
  const std::string where = heads.place.line == place.line ? "" : fmt::format(" (line {})", heads.place.line);
  findings.add(place,
               fmt::format("kv_heads {} does not divide heads {}{}", kv_heads, heads.value.first, where),
               "one of " + divisors(heads.value.first));
}

// Without kv_heads each query head has its own; without both the default of a case.
void read_heads(TableReader& table, Matrix& matrix, Findings& findings) {
  const Case defaults;
  const auto heads = table.values("heads", pair_or_integer(kMaxHeads), {Pair{defaults.heads, {}}});
  if (table.has("heads") && paired(heads, "heads", "kv_heads", table)) {
    for (const auto& pair : heads) {
      add_heads(pair, pair.value.second.value_or(pair.value.first), pair.place, matrix, findings);
    }
    return;
  }
  const auto kv_heads = table.values<std::int64_t>("kv_heads", integer(1, kMaxHeads), {defaults.kv_heads});
  for (const auto& pair : heads) {
    if (table.has("heads") && !table.has("kv_heads")) {
      matrix.heads.push_back({pair.value.first, pair.value.first});
      continue;
    }
    for (const auto& kv : kv_heads) add_heads(pair, kv.value, kv.place, matrix, findings);
  }
}

void read_dims(TableReader& table, Matrix& matrix) {
  const auto dims = table.values("head_dim", pair_or_integer(kMaxHeadDim), {Pair{Case{}.head_dim, {}}});
  const bool are_paired = paired(dims, "head_dim", "v_head_dim", table);
  const auto v_dims = table.values<std::int64_t>("v_head_dim", integer(1, kMaxHeadDim), {});
  for (const auto& pair : dims) {
    if (are_paired || !table.has("v_head_dim")) {
      matrix.dims.push_back({pair.value.first, pair.value.second.value_or(pair.value.first)});
      continue;
    }
    for (const auto& v : v_dims) matrix.dims.push_back({pair.value.first, v.value});
  }
}

}  // namespace

void read_attention(const TomlTable& entries, bool from_file, Matrix& matrix, Findings& findings) {
  TableReader table(entries, "[attention]", kKeys, findings);
  if (from_file) {
    for (const auto key : {"heads", "kv_heads", "head_dim", "v_head_dim", "softmax_scale"}) {
      table.refuse(key, "[inputs] file says it");
    }
  } else {
    read_heads(table, matrix, findings);
    read_dims(table, matrix);
    for (const auto& scale : table.values<double>("softmax_scale", positive(), {})) {
      matrix.softmax_scales.emplace_back(scale.value);
    }
    if (!table.has("softmax_scale")) matrix.softmax_scales.emplace_back();
  }
  for (const auto& layers : table.values<std::int64_t>("layers", integer(1, kMaxLayers), {1})) {
    matrix.layers.push_back(layers.value);
  }
  for (const auto& on : table.values<bool>("recompute", boolean(), {false})) {
    matrix.recompute.push_back(on.value);
  }
  for (const auto& on : table.values<bool>("first_segment_apart", boolean(), {false})) {
    matrix.first_segment_apart.push_back(on.value);
  }
}

}  // namespace straddle::harness
