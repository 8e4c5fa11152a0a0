#include "harness/scenario/expect_reader.hpp"

#include <fmt/format.h>

#include <array>

#include "harness/judge/judge.hpp"
#include "harness/scenario/case_names.hpp"
#include "harness/scenario/limits.hpp"
#include "harness/scenario/table_reader.hpp"
#include "pack/path.hpp"

namespace straddle::harness {
namespace {

constexpr std::array<std::string_view, 14> kKeys = {
    "min_ranks",         "straddles",     "path",           "reason",
    "padding_ranks",     "one_real_rank", "document_ranks", "cuts_on_starts",
    "one_token_at_cuts", "slots_padded",  "gapped",         "one_row_shards",
    "tile_rows",         "zero"};

constexpr std::array<pack::PathReason, 6> kReasons = {
    pack::PathReason::as_asked,    pack::PathReason::kernel_not_varlen, pack::PathReason::no_metadata,
    pack::PathReason::spans_nodes, pack::PathReason::preflight_failed,  pack::PathReason::halo_short};

constexpr std::string_view kAny = "any";  // takes back what the file's [expect] says

void read_name(TableReader& table, std::string_view key, std::vector<std::string_view> names,
               std::optional<std::string>& fact) {
  names.push_back(kAny);
  const auto name = table.value(key, one_of(std::move(names)));
  if (!name) return;
  fact = *name;
  if (*fact == kAny) fact.reset();
}

}  // namespace

Expect read_expect(const TomlTable& entries, const std::string& name, Expect base, Findings& findings) {
  TableReader table(entries, name, kKeys, findings);
  const auto boolean_fact = [&](std::string_view key, std::optional<bool>& fact) {
    if (const auto value = table.value(key, boolean())) fact = value;
  };
  const auto count_fact = [&](std::string_view key, std::optional<std::int64_t>& fact) {
    if (const auto value = table.value(key, integer(0, kMaxSlots))) fact = value;
  };
  if (const auto value = table.value("min_ranks", integer(1, kMaxRanks))) base.min_ranks = *value;
  boolean_fact("straddles", base.straddles);
  std::vector<std::string_view> paths, reasons;
  for (const auto kind : kExchanges) paths.push_back(pack::name(kind));
  for (const auto reason : kReasons) reasons.push_back(pack::name(reason));
  read_name(table, "path", std::move(paths), base.path);
  read_name(table, "reason", std::move(reasons), base.reason);
  count_fact("padding_ranks", base.padding_ranks);
  boolean_fact("one_real_rank", base.one_real_rank);
  count_fact("document_ranks", base.document_ranks);
  boolean_fact("cuts_on_starts", base.cuts_on_starts);
  boolean_fact("one_token_at_cuts", base.one_token_at_cuts);
  boolean_fact("slots_padded", base.slots_padded);
  boolean_fact("gapped", base.gapped);
  boolean_fact("one_row_shards", base.one_row_shards);
  count_fact("tile_rows", base.tile_rows);
  if (table.has("zero")) {
    base.zero.clear();
    const std::vector<std::string_view> tensors(kResultNames.begin(), kResultNames.end());
    for (auto& tensor : table.values<std::string>("zero", one_of(tensors), {})) {
      base.zero.push_back(tensor.value);
    }
  }
  return base;
}

bool states_facts(const Expect& expect) {
  Expect nothing;
  nothing.min_ranks = expect.min_ranks;
  nothing.zero = expect.zero;
  return !(expect == nothing);
}

}  // namespace straddle::harness
