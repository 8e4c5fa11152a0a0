#include "harness/scenario/pack_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>

#include "harness/scenario/drawn_lengths.hpp"
#include "harness/scenario/limits.hpp"
#include "harness/scenario/path_lookup.hpp"
#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::array<std::string_view, 15> kKeys = {
    "documents", "cu_seqlens", "starts",  "lengths",      "document_ids", "position_ids", "real", "file",
    "random",    "slots",      "padding", "max_document", "seed",         "mask",         "ranks"};
constexpr std::array<std::string_view, 16> kAllKeys = [] {
  std::array<std::string_view, 16> keys{};
  std::copy(kKeys.begin(), kKeys.end(), keys.begin());
  keys.back() = "expect";
  return keys;
}();
constexpr std::array<std::string_view, 7> kForms = {"documents",    "cu_seqlens", "starts", "document_ids",
                                                    "position_ids", "file",       "random"};
constexpr std::array<std::string_view, 6> kRandomKeys = {"slots", "seed", "max_document",
                                                         "zero",  "one",  "padding"};

// A list of integers in a text file, one a line.
std::optional<Integers> read_lengths_file(const std::filesystem::path& path, const TomlPlace& place,
                                          Findings& findings) {
  std::ifstream file(path);
  Integers lengths;
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    std::int64_t length = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length);
    if (error != std::errc{} || end != line.data() + line.size() || length < 0) {
      findings.add(place, fmt::format("{}:{}: expected a document's length, one a line, not \"{}\"",
                                      path.string(), number, line.substr(0, 40)));
      return std::nullopt;
    }
    lengths.push_back(length);
  }
  return lengths;
}

class PackReader {
 public:
  PackReader(const TomlTable& entries, const TomlPlace& place, Findings& findings)
      : table_(entries, "[[pack]]", kAllKeys, findings), place_(place), findings_(findings) {}

  std::optional<PackPoint> read() {
    const std::size_t findings_before = findings_.size();
    PackPoint point;
    point.place = place_;
    point.ranks = table_.values<std::int64_t>("ranks", integer(1, kMaxRanks), {});
    point.expect = table_.entry("expect");
    const std::string_view form = the_form();
    if (form.empty()) return std::nullopt;
    refuse_foreign_keys(form);
    slots_ = table_.value("slots", integer(1, kMaxSlots));
    padding_ = table_.value("padding", integer(0, kMaxSlots));
    try {
      point.pack = pack_of(form, point.empty_documents);
      if (findings_.size() != findings_before) return std::nullopt;
      check_size(form, point.pack);
      if (const auto mask = table_.integers("mask", true)) pack::check_validity_mask(point.pack, *mask);
    } catch (const pack::PackError& error) {
      if (findings_.size() == findings_before) add_pack_error(form, error.what());
    }
    if (findings_.size() != findings_before) return std::nullopt;
    return point;
  }

 private:
  std::string_view the_form() {
    std::vector<std::string_view> given;
    for (const std::string_view form : kForms) {
      if (table_.has(form)) given.push_back(form);
    }
    if (given.size() == 1) return given.front();
    if (given.empty()) {
      findings_.add(place_, "[[pack]] says nothing about its documents", "one of " + join(kForms));
    } else {
      findings_.add(table_.entry(given[1])->place,
                    fmt::format("[[pack]] describes its documents twice: {}", join(given)),
                    "keep one of them");
    }
    return {};
  }

  void refuse_foreign_keys(std::string_view form) {
    const auto only_with = [&](std::string_view key, std::string_view owner) {
      if (form != owner) table_.refuse(key, fmt::format("it belongs to {}", owner));
    };
    only_with("lengths", "starts");
    only_with("real", "position_ids");
    only_with("seed", "file");
    only_with("max_document", "file");
    if (form == "document_ids" || form == "position_ids" || form == "random") {
      const std::string reason = fmt::format("{} says how long the row is", form);
      table_.refuse("slots", reason);
      table_.refuse("padding", reason);
    }
  }

  pack::Pack pack_of(std::string_view form, std::int64_t& empty_documents) {
    if (form == "documents") return from_lengths(table_.integers(form, true), empty_documents);
    if (form == "cu_seqlens") {
      return with_padding(pack::from_cu_seqlens(list(form), slots_if_alone()));
    }
    if (form == "starts") {
      if (!table_.has("lengths")) {
        findings_.add(place_, "starts need lengths beside them: the gapped form has both");
        return {};
      }
      return with_padding(pack::from_starts(list("starts"), list("lengths"), slots_if_alone()));
    }
    if (form == "document_ids") return from_document_ids();
    if (form == "position_ids") {
      return pack::from_position_ids(list(form), table_.value("real", integer(0, kMaxSlots)));
    }
    return from_lengths(form == "file" ? from_file() : from_random(), empty_documents);
  }

  Integers list(std::string_view key) { return table_.integers(key, true).value_or(Integers{}); }

  // With both given, padding is applied first and then compared with slots.
  std::optional<std::int64_t> slots_if_alone() const { return padding_ ? std::nullopt : slots_; }

  pack::Pack with_padding(pack::Pack pack) const {
    if (pack.slots > kMaxSlots) return pack;  // check_size says so
    if (padding_) pack.slots += *padding_;
    if (padding_ && slots_ && pack.slots != *slots_) {
      throw pack::PackError(fmt::format("the documents end at {} and padding = {} makes {}, but slots = {}",
                                        pack.slots - *padding_, *padding_, pack.slots, *slots_));
    }
    return pack;
  }

  pack::Pack from_lengths(const std::optional<Integers>& lengths, std::int64_t& empty_documents) {
    if (!lengths) return {};
    empty_documents = std::count(lengths->begin(), lengths->end(), 0);
    return with_padding(pack::from_lengths(*lengths, slots_if_alone()));
  }

  // [slots], or [1, slots] as a list in a list.
  pack::Pack from_document_ids() {
    const TomlEntry& entry = *table_.entry("document_ids");
    const auto* rows = entry.value.as<TomlArray>();
    const bool nested = rows != nullptr && !rows->empty() && (*rows)[0].as<TomlArray>() != nullptr;
    if (!nested) return pack::from_document_ids(list("document_ids"));
    Integers ids;
    Integers shape{static_cast<std::int64_t>(rows->size()),
                   static_cast<std::int64_t>((*rows)[0].as<TomlArray>()->size())};
    for (const TomlValue& row : *rows) {
      const auto* values = row.as<TomlArray>();
      const std::size_t count = values == nullptr ? 0 : values->size();
      if (static_cast<std::int64_t>(count) != shape[1]) {
        findings_.add(row.place, "document_ids: all rows must be lists of equal length");
        return {};
      }
      for (const TomlValue& value : *values) {
        const auto* id = value.as<std::int64_t>();
        if (id == nullptr) {
          findings_.add(value.place, fmt::format("document_ids must hold integers, not {}", value.kind()));
          return {};
        }
        ids.push_back(*id);
      }
    }
    return pack::from_document_ids(ids, shape);
  }

  // Documents fill slots - padding.
  std::optional<Integers> from_file() {
    const TomlEntry& entry = *table_.entry("file");
    const auto name = table_.value("file", string());
    const auto seed = table_.value("seed", integer(0, std::numeric_limits<std::int64_t>::max()));
    const auto longest = table_.value("max_document", integer(1, kMaxDrawnSlots));
    if (!slots_) findings_.add(entry.place, "file needs slots: how many the drawn documents fill");
    if (!name || !slots_ || !drawn_size_fits(*slots_, entry.place)) return std::nullopt;
    const auto path = look_up(findings_.file(), *name);
    if (!path) {
      findings_.add(entry.value.place, fmt::format("no file {}", *name),
                    "seen from this file's folder, or from the folder above");
      return std::nullopt;
    }
    const auto lengths = read_lengths_file(*path, entry.value.place, findings_);
    if (!lengths) return std::nullopt;
    const std::int64_t most = longest.value_or(kMaxDrawnSlots);
    if (std::none_of(lengths->begin(), lengths->end(),
                     [&](std::int64_t length) { return length >= 1 && length <= most; })) {
      findings_.add(entry.value.place, fmt::format("{} has no document of 1 to {} tokens", *name, most));
      return std::nullopt;
    }
    return draw_from(*lengths, *slots_ - padding_.value_or(0), most,
                     static_cast<std::uint64_t>(seed.value_or(7)));
  }

  std::optional<Integers> from_random() {
    const TomlEntry& entry = *table_.entry("random");
    const auto* entries = entry.value.as<TomlTable>();
    if (entries == nullptr) {
      findings_.add(entry.value.place, fmt::format("random must be a table, not {}", entry.value.kind()),
                    "keys: " + join(kRandomKeys));
      return std::nullopt;
    }
    TableReader table(*entries, "random", kRandomKeys, findings_);
    RandomLengths wanted;
    const auto slots = table.value("slots", integer(1, kMaxDrawnSlots));
    if (!table.has("slots")) {
      findings_.add(entry.place, "random needs slots: how long the row is");
    }
    if (!slots) return std::nullopt;
    slots_ = slots;
    padding_ = table.value("padding", integer(0, *slots - 1));
    wanted.slots = *slots - padding_.value_or(0);
    wanted.max_document = table.value("max_document", integer(1, *slots)).value_or(*slots);
    wanted.zero = table.value("zero", number(0, 0.9)).value_or(0);
    wanted.one = table.value("one", number(0, 0.9)).value_or(0);
    wanted.seed = static_cast<std::uint64_t>(
        table.value("seed", integer(0, std::numeric_limits<std::int64_t>::max())).value_or(7));
    if (wanted.zero + wanted.one > 0.9) {
      findings_.add(entry.place, fmt::format("zero + one is {}, over 0.9: the row would not fill",
                                             wanted.zero + wanted.one));
      return std::nullopt;
    }
    return draw_lengths(wanted);
  }

  bool drawn_size_fits(std::int64_t slots, const TomlPlace& place) {
    if (slots <= kMaxDrawnSlots && padding_.value_or(0) < slots) return true;
    findings_.add(place, fmt::format("drawn documents need slots of at most {} and more than padding = {}",
                                     kMaxDrawnSlots, padding_.value_or(0)));
    return false;
  }

  void check_size(std::string_view form, const pack::Pack& pack) {
    const TomlEntry& entry = *table_.entry(form);
    if (pack.slots < 1) {
      findings_.add(entry.place, "the pack has no slots: give documents, slots or padding");
    } else if (pack.slots > kMaxSlots) {
      findings_.add(entry.place, fmt::format("the row has {} slots, but kernels take int32: at most {}",
                                             pack.slots, kMaxSlots));
    }
  }

  // The message names an entry of a list, as "starts[3]": the finding points there.
  void add_pack_error(std::string_view form, std::string message) {
    if (form == "documents") {
      for (std::size_t at = 0; (at = message.find("lengths[", at)) != std::string::npos; at += 10) {
        message.replace(at, 7, "documents");
      }
    }
    TomlPlace place = table_.entry(form)->value.place;
    for (const std::string_view key : kKeys) {
      const std::size_t at = message.find(fmt::format("{}[", key));
      const TomlEntry* entry = table_.entry(key);
      const auto* list = entry == nullptr ? nullptr : entry->value.as<TomlArray>();
      if (at == std::string::npos || list == nullptr) continue;
      std::size_t index = 0;
      const char* digits = message.data() + at + key.size() + 1;
      const auto [end, error] = std::from_chars(digits, message.data() + message.size(), index);
      if (error != std::errc{} || index >= list->size()) continue;
      place = (*list)[index].place;
      break;
    }
    findings_.add(place, std::move(message));
  }

  TableReader table_;
  TomlPlace place_;
  Findings& findings_;
  std::optional<std::int64_t> slots_;
  std::optional<std::int64_t> padding_;
};

}  // namespace

std::optional<PackPoint> read_pack(const TomlValue& value, Findings& findings) {
  const auto* table = value.as<TomlTable>();
  if (table == nullptr) {
    findings.add(value.place, fmt::format("[[pack]] must be a table, not {}", value.kind()));
    return std::nullopt;
  }
  return PackReader(*table, value.place, findings).read();
}

}  // namespace straddle::harness
