// What a set of cases covers, as text.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "harness/scenario/case_names.hpp"
#include "harness/scenario/random_cases.hpp"
#include "pack/plan.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kNameWidth = 18;

// Values sort by their first part: ranges by size, names by their place in a list.
using Bin = std::pair<std::int64_t, std::string>;
using Property = std::pair<std::string_view, std::function<Bin(const CaseEntry&)>>;

Bin exactly(std::int64_t value) { return {value, fmt::format("{}", value)}; }

// 0, 1, 2-3, 4-7, ..
Bin by_power_of_two(std::int64_t value) {
  if (value < 2) return exactly(value);
  const auto low = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
  return {low, fmt::format("{}-{}", low, 2 * low - 1)};
}

template <class Value>
Bin named(Value value, std::string_view name) {
  return {static_cast<std::int64_t>(value), std::string(name)};
}

Bin yes_or_no(bool value) { return named(value, value ? "yes" : "no"); }

template <class Choices, class Value>
Bin chosen(const Choices& choices, Value value) {
  for (const auto& choice : choices) {
    if (choice.value == value) return named(value, choice.name);
  }
  return named(value, "file");
}

std::int64_t one_token_documents(const pack::Pack& pack) {
  return std::count_if(pack.documents.begin(), pack.documents.end(),
                       [](const pack::Document& document) { return document.length == 1; });
}

std::int64_t padding_ranks(const Case& point) {
  const auto rows = pack::real_rows(point.padded(), point.ranks);
  return std::count(rows.begin(), rows.end(), 0);
}

std::int64_t longest_straddle(const Case& point) {
  const auto straddles = pack::straddles(point.padded(), point.ranks);
  return *std::max_element(straddles.begin(), straddles.end());
}

std::vector<Property> properties() {
  return {
      {"ranks", [](const CaseEntry& e) { return exactly(e.point.ranks); }},
      {"slots", [](const CaseEntry& e) { return by_power_of_two(e.point.pack.slots); }},
      {"documents",
       [](const CaseEntry& e) {
         return by_power_of_two(static_cast<std::int64_t>(e.point.pack.documents.size()));
       }},
      {"0-token documents", [](const CaseEntry& e) { return by_power_of_two(e.empty_documents); }},
      {"1-token documents",
       [](const CaseEntry& e) { return by_power_of_two(one_token_documents(e.point.pack)); }},
      {"padding slots",
       [](const CaseEntry& e) {
         return by_power_of_two(e.point.padded().slots - e.point.pack.real_tokens());
       }},
      {"padding ranks", [](const CaseEntry& e) { return exactly(padding_ranks(e.point)); }},
      {"W divides slots",
       [](const CaseEntry& e) { return yes_or_no(e.point.pack.slots % e.point.ranks == 0); }},
      {"longest straddle", [](const CaseEntry& e) { return by_power_of_two(longest_straddle(e.point)); }},
      {"gapped", [](const CaseEntry& e) { return yes_or_no(e.point.pack.gapped()); }},
      {"heads per kv head", [](const CaseEntry& e) { return exactly(e.point.heads / e.point.kv_heads); }},
      {"kv heads", [](const CaseEntry& e) { return exactly(e.point.kv_heads); }},
      {"D", [](const CaseEntry& e) { return by_power_of_two(e.point.head_dim); }},
      {"Dv = D", [](const CaseEntry& e) { return yes_or_no(e.point.head_dim == e.point.v_head_dim); }},
      {"dtype", [](const CaseEntry& e) { return named(e.point.dtype, tensor::name(e.point.dtype)); }},
      {"exchange", [](const CaseEntry& e) { return named(e.point.exchange, pack::name(e.point.exchange)); }},
      {"kernel", [](const CaseEntry& e) { return named(0, e.point.kernel); }},
      {"reduce", [](const CaseEntry& e) { return named(e.point.reduce, cp::name(e.point.reduce)); }},
      {"layers", [](const CaseEntry& e) { return exactly(e.point.layers); }},
      {"recompute", [](const CaseEntry& e) { return yes_or_no(e.point.recompute); }},
      {"first apart", [](const CaseEntry& e) { return yes_or_no(e.point.first_segment_apart); }},
      {"inputs", [](const CaseEntry& e) { return chosen(kInputKinds, e.point.inputs.kind); }},
      {"d_lse", [](const CaseEntry& e) { return yes_or_no(e.point.inputs.d_lse); }},
      {"padding rows", [](const CaseEntry& e) { return chosen(kPaddingRows, e.point.inputs.padding_rows); }},
      {"probe", [](const CaseEntry& e) { return chosen(kProbes, e.point.probe); }},
  };
}

}  // namespace

std::string histogram(const std::vector<CaseEntry>& cases) {
  std::string table;
  for (const auto& [name, bin_of] : properties()) {
    std::map<Bin, std::int64_t> counts;
    for (const CaseEntry& entry : cases) ++counts[bin_of(entry)];
    std::string line = fmt::format("{:<{}}", name, kNameWidth);
    for (const auto& [bin, count] : counts) {
      const std::string part = fmt::format("  {}: {}", bin.second, count);
      if (line.size() + part.size() > kColumns) {
        table += line + '\n';
        line = std::string(kNameWidth, ' ');
      }
      line += part;
    }
    table += line + '\n';
  }
  return table;
}

}  // namespace straddle::harness
