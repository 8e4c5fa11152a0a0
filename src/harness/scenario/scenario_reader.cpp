#include "harness/scenario/scenario_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "harness/inputs/inputs.hpp"
#include "harness/scenario/attention_reader.hpp"
#include "harness/scenario/case_names.hpp"
#include "harness/scenario/expect_reader.hpp"
#include "harness/scenario/limits.hpp"
#include "harness/scenario/matrix.hpp"
#include "harness/scenario/pack_reader.hpp"
#include "harness/scenario/path_lookup.hpp"
#include "harness/scenario/table_reader.hpp"

namespace straddle::harness {
namespace {

constexpr std::array<std::string_view, 6> kSections = {"scenario", "pack",   "attention",
                                                       "inputs",   "matrix", "expect"};
constexpr std::array<std::string_view, 1> kScenarioKeys = {"title"};
constexpr std::array<std::string_view, 7> kInputKeys = {"kind",         "amplitude", "seed", "d_lse",
                                                        "padding_rows", "file",      "probe"};
constexpr std::array<std::string_view, 5> kMatrixKeys = {"ranks", "exchange", "kernel", "dtype", "reduce"};

constexpr std::int64_t kAnySeed = std::numeric_limits<std::int64_t>::max();

// A pack with what its table or its file says beside it.
struct Source {
  PackPoint point;
  Case defaults;  // of a file: heads, sizes, scale, dtype, hash
  bool from_file = false;
};

template <class Choices, class Member>
void read_choices(TableReader& table, std::string_view key, const Choices& choices, Member& member) {
  std::vector<std::string_view> names;
  for (const auto& choice : choices) names.push_back(choice.name);
  for (const auto& name : table.values<std::string>(key, one_of(names), {std::string(names.front())})) {
    const auto found = std::find(names.begin(), names.end(), name.value);
    member.push_back(choices[static_cast<std::size_t>(found - names.begin())].value);
  }
}

class ScenarioReader {
 public:
  ScenarioReader(const TomlTable& root, Findings& findings, const LoadOptions& options)
      : root_(root), findings_(findings), options_(options) {}

  Scenario read() {
    TableReader sections(root_, "a scenario", kSections, findings_);
    Scenario scenario{findings_.file(), {}, {}};
    TableReader header(section("scenario"), "[scenario]", kScenarioKeys, findings_);
    scenario.title = header.value("title", string()).value_or("");
    read_inputs();
    read_packs(sections);
    read_attention(section("attention"), from_file_, matrix_, findings_);
    read_matrix();
    file_expect_ = read_expect(section("expect"), "[expect]", {}, findings_);
    if (!findings_.empty()) return scenario;
    check_size();
    for (const Source& source : sources_) {
      if (findings_.empty()) add_cases(source, scenario);
    }
    check_binding(file_expect_, find(root_, "expect"), scenario.cases, "this file");
    if (!findings_.empty()) scenario.cases.clear();
    return scenario;
  }

 private:
  // The table of that name; empty where there is none.
  const TomlTable& section(std::string_view name) {
    static const TomlTable kNone;
    const TomlEntry* entry = find(root_, name);
    if (entry == nullptr) return kNone;
    if (const auto* table = entry->value.as<TomlTable>()) return *table;
    findings_.add(entry->place,
                  fmt::format("{0} must be a table, [{0}], not {1}", name, entry->value.kind()));
    return kNone;
  }

  void read_inputs() {
    TableReader table(section("inputs"), "[inputs]", kInputKeys, findings_);
    from_file_ = table.has("file");
    for (const auto& seed : table.values<std::int64_t>("seed", integer(0, kAnySeed), {7})) {
      matrix_.seeds.push_back(static_cast<std::uint64_t>(seed.value));
    }
    for (const auto& on : table.values<bool>("d_lse", boolean(), {false})) {
      matrix_.d_lse.push_back(on.value);
      if (on.value && from_file_) findings_.add(on.place, "d_lse can't be true: the file holds no d_lse");
    }
    read_choices(table, "padding_rows", kPaddingRows, matrix_.padding_rows);
    read_choices(table, "probe", kProbes, matrix_.probes);
    if (!from_file_) {
      read_choices(table, "kind", kInputKinds, matrix_.kinds);
      for (const auto& amplitude : table.values<double>("amplitude", positive(), {1})) {
        matrix_.amplitudes.push_back(amplitude.value);
      }
      return;
    }
    table.refuse("kind", "file says what the inputs are");
    table.refuse("amplitude", "file says what the inputs are");
    matrix_.kinds = {InputKind::file};
    matrix_.amplitudes = {1};
    for (const auto& file : table.values<std::string>("file", string(), {})) add_file(file);
  }

  void add_file(const Placed<std::string>& file) {
    const auto path = look_up(findings_.file(), file.value);
    if (!path) {
      findings_.add(file.place, fmt::format("no file {}", file.value),
                    "seen from this file's folder, or from the folder above");
      return;
    }
    try {
      const InputFile input = read_input_file(path->string());
      Source source;
      source.from_file = true;
      source.point.pack = input.pack;
      source.point.place = file.place;
      Case& point = source.defaults;
      point.heads = input.heads;
      point.kv_heads = input.kv_heads;
      point.head_dim = input.head_dim;
      point.v_head_dim = input.v_head_dim;
      if (input.softmax_scale != point.scale()) point.softmax_scale = input.softmax_scale;
      point.dtype = input.dtype;
      point.inputs.file = path->string();
      point.inputs.file_hash = input.hash;
      sources_.push_back(std::move(source));
    } catch (const std::exception& error) {
      findings_.add(file.place, error.what());
    }
  }

  void read_packs(const TableReader& sections) {
    const TomlEntry* entry = sections.entry("pack");
    const auto* packs = entry == nullptr ? nullptr : entry->value.as<TomlArray>();
    if (entry != nullptr && from_file_) {
      findings_.add(entry->place, "[[pack]] can't be given here: [inputs] file holds the pack");
    } else if (entry == nullptr && !from_file_) {
      findings_.add({}, "the file has no [[pack]]", "give at least one, or [inputs] file");
    } else if (entry != nullptr && (packs == nullptr || packs->empty())) {
      findings_.add(entry->place, fmt::format("pack must be a list of tables, [[pack]], not {}",
                                              packs == nullptr ? entry->value.kind() : "an empty list"));
    } else if (entry != nullptr) {
      for (const TomlValue& value : *packs) {
        if (auto point = read_pack(value, findings_)) sources_.push_back({std::move(*point), {}, false});
      }
    }
  }

  void read_matrix() {
    TableReader table(section("matrix"), "[matrix]", kMatrixKeys, findings_);
    for (const auto& ranks : table.values<std::int64_t>("ranks", integer(1, kMaxRanks), {1, 2, 4})) {
      matrix_.ranks.push_back(ranks.value);
    }
    std::vector<std::string_view> names;
    std::vector<std::string> all;
    for (const auto kind : kExchanges) names.push_back(pack::name(kind));
    for (const auto name : names) all.emplace_back(name);
    for (const auto& exchange : table.values<std::string>("exchange", one_of(names), all)) {
      matrix_.exchanges.push_back(pack::parse_exchange(exchange.value));
    }
    names.assign(options_.kernels.begin(), options_.kernels.end());
    for (const auto& kernel : table.values<std::string>("kernel", one_of(names), {Case{}.kernel})) {
      matrix_.kernels.push_back(kernel.value);
    }
    names.clear();
    for (const auto dtype : kStorageDTypes) names.push_back(tensor::name(dtype));
    for (const auto& dtype : table.values<std::string>("dtype", one_of(names), {})) {
      matrix_.dtypes.push_back(*tensor::parse_dtype(dtype.value));
    }
    names = {cp::name(cp::Reduce::ordered), cp::name(cp::Reduce::library)};
    for (const auto& reduce : table.values<std::string>("reduce", one_of(names), {std::string(names[0])})) {
      matrix_.reduces.push_back(cp::parse_reduce(reduce.value));
    }
  }

  void check_size() {
    const double cases = matrix_.size() * static_cast<double>(sources_.size());
    if (cases <= static_cast<double>(kMaxCasesPerFile)) return;
    findings_.add({}, fmt::format("the matrix has {:.0f} cases, the most is {}", cases, kMaxCasesPerFile),
                  "split the file, or shorten its lists");
  }

  void add_cases(const Source& source, Scenario& scenario) {
    CaseEntry entry{source.defaults,
                    {},
                    findings_.file(),
                    source.point.place.line,
                    file_expect_,
                    source.point.empty_documents,
                    {}};
    entry.point.pack = source.point.pack;
    if (const TomlEntry* expect = source.point.expect) {
      if (const auto* table = expect->value.as<TomlTable>()) {
        entry.expect = read_expect(*table, "[pack.expect]", file_expect_, findings_);
      } else {
        findings_.add(expect->place, fmt::format("expect must be a table, not {}", expect->value.kind()));
      }
    }
    Matrix matrix = matrix_;
    if (matrix.dtypes.empty()) matrix.dtypes = {source.defaults.dtype};
    if (source.from_file) {
      matrix.heads = {{entry.point.heads, entry.point.kv_heads}};
      matrix.dims = {{entry.point.head_dim, entry.point.v_head_dim}};
      matrix.softmax_scales = {entry.point.softmax_scale};
    }
    restrict_ranks(source.point, matrix);
    const auto cases = expand(matrix, entry);
    scenario.cases.insert(scenario.cases.end(), cases.begin(), cases.end());
    check_binding(entry.expect, source.point.expect, cases, "this pack");
  }

  void restrict_ranks(const PackPoint& point, Matrix& matrix) {
    if (point.ranks.empty()) return;
    matrix.ranks.clear();
    for (const auto& ranks : point.ranks) {
      if (std::find(matrix_.ranks.begin(), matrix_.ranks.end(), ranks.value) == matrix_.ranks.end()) {
        findings_.add(ranks.place, fmt::format("ranks {} is not in the matrix's ranks", ranks.value),
                      fmt::format("one of {}", fmt::join(matrix_.ranks, ", ")));
      }
      matrix.ranks.push_back(ranks.value);
    }
  }

  // Facts that are written down but hold for no case prove nothing.
  void check_binding(const Expect& expect, const TomlEntry* written, const std::vector<CaseEntry>& cases,
                     std::string_view what) {
    if (written == nullptr || !states_facts(expect)) return;
    const bool binds = std::any_of(cases.begin(), cases.end(), [&](const CaseEntry& entry) {
      return !entry.not_applicable && entry.point.ranks >= entry.expect.min_ranks;
    });
    if (binds || !findings_.empty()) return;
    findings_.add(written->place,
                  fmt::format("the expectations bind {} ranks and more, but {} has no such case",
                              expect.min_ranks, what),
                  "add to ranks, or lower min_ranks");
  }

  const TomlTable& root_;
  Findings& findings_;
  const LoadOptions& options_;
  Matrix matrix_;
  Expect file_expect_;
  std::vector<Source> sources_;
  bool from_file_ = false;
};

}  // namespace

Scenario read_scenario(const std::string& text, Findings& findings, const LoadOptions& options) {
  const auto parsed = parse_toml(text);
  if (const auto* error = std::get_if<TomlSyntaxError>(&parsed)) {
    findings.add(error->place, error->message);
    return {findings.file(), {}, {}};
  }
  return ScenarioReader(std::get<TomlTable>(parsed), findings, options).read();
}

}  // namespace straddle::harness
