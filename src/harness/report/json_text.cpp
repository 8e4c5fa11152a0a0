#include "harness/report/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/judge/layout.hpp"
#include "harness/report/repro.hpp"

namespace straddle::harness {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string line_of(const Json& record) {
  return record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// An object built key by key, each key once. Json's own ways look every new key up among the others, which
// takes most of the time of a record of many tensors.
class Object {
 public:
  explicit Object(std::size_t keys) { members_.reserve(keys); }
  Object& add(const char* key, Json value) {
    static_cast<Members&>(members_).emplace_back(key, std::move(value));
    return *this;
  }
  [[nodiscard]] Json take() { return Json(std::move(members_)); }

 private:
  using Members = Json::object_t::Container;
  Json::object_t members_;
};

Json json_of(const std::optional<Place>& place) {
  if (!place) return nullptr;
  return Object(8)
      .add("token", place->token)
      .add("rank", place->rank)
      .add("local_row", place->local_row)
      .add("document_row", place->document_row)
      .add("head", place->head)
      .add("dim", place->dim)
      .add("got", number(place->got))
      .add("want", number(place->want))
      .take();
}

// Errors of the ranks that own rows of the document, from first_rank on: a pack of many documents over many
// ranks stays short.
void add_ranks(const TensorVerdict& tensor, const CaseEntry& entry, Object& json) {
  const auto& documents = entry.point.pack.documents;
  const auto ranks = static_cast<std::int64_t>(tensor.relative_by_rank.size());
  RankRange range{0, ranks - 1};
  if (static_cast<std::size_t>(tensor.document) < documents.size()) {
    range = ranks_of(documents[static_cast<std::size_t>(tensor.document)], entry.point.rows_per_rank());
  }
  Json relative = Json::array();
  for (std::int64_t rank = range.first; rank <= range.last && rank < ranks; ++rank) {
    relative.push_back(number(tensor.relative_by_rank[static_cast<std::size_t>(rank)]));
  }
  Json wrong = Json::array();
  for (std::size_t rank = 0; rank < tensor.wrong_by_rank.size(); ++rank) {
    if (tensor.wrong_by_rank[rank]) wrong.push_back(rank);
  }
  json.add("first_rank", range.first)
      .add("relative", std::move(relative))
      .add("wrong_ranks", std::move(wrong));
}

Json json_of(const TensorVerdict& tensor, const CaseEntry& entry) {
  Object json(20);
  json.add("name", tensor.tensor)
      .add("layer", tensor.layer)
      .add("document", tensor.document)
      .add("tokens", tensor.tokens)
      .add("wrong", tensor.wrong())
      .add("used", number(tensor.used))
      .add("allowed", number(tensor.allowed))
      .add("ratio", number(tensor.ratio))
      .add("criterion", name(tensor.criterion))
      .add("float_reference", number(tensor.float_reference))
      .add("reference_zero", tensor.reference_zero)
      .add("wrong_rows", tensor.wrong_rows)
      .add("rows", tensor.wrong_ranges)
      .add("heads", tensor.wrong_heads)
      .add("of_heads", tensor.heads)
      .add("first", json_of(tensor.first))
      .add("worst", json_of(tensor.worst));
  add_ranks(tensor, entry, json);
  return json.take();
}

Json json_of_tensors(const Judgement& judgement, const CaseEntry& entry) {
  Json json = Json::array();
  for (const TensorVerdict& tensor : judgement.tensors) json.push_back(json_of(tensor, entry));
  return json;
}

Json json_of(const std::vector<PaddingVerdict>& padding) {
  Json json = Json::array();
  for (const PaddingVerdict& tensor : padding) {
    json.push_back({{"name", tensor.tensor},
                    {"layer", tensor.layer},
                    {"rows", tensor.rows},
                    {"wrong_rows", tensor.wrong_rows},
                    {"first", json_of(tensor.first)}});
  }
  return json;
}

Json json_of(const InvariantVerdict& invariant) {
  return {{"id", invariant.id},
          {"layer", invariant.layer},
          {"document", invariant.document},
          {"head", invariant.head},
          {"used", number(invariant.used)},
          {"allowed", number(invariant.allowed)},
          {"broken", invariant.broken()},
          {"sentence", invariant.sentence}};
}

// used / allowed, and infinity where nothing is allowed and something used.
double strain(const InvariantVerdict& invariant) {
  if (invariant.used == 0) return 0;
  const double ratio = invariant.used / invariant.allowed;
  return std::isnan(ratio) ? INFINITY : ratio;
}

// The broken ones and, of each id, the one that uses most of what it is allowed.
Json json_of(const std::vector<InvariantVerdict>& invariants) {
  std::map<std::string, const InvariantVerdict*> worst;
  for (const InvariantVerdict& invariant : invariants) {
    const InvariantVerdict*& of_id = worst[invariant.id];
    if (of_id == nullptr || strain(invariant) > strain(*of_id)) of_id = &invariant;
  }
  Json shown = Json::array();
  for (const InvariantVerdict& invariant : invariants) {
    if (invariant.broken() || worst[invariant.id] == &invariant) shown.push_back(json_of(invariant));
  }
  return {{"checked", invariants.size()}, {"broken_or_worst", std::move(shown)}};
}

Json json_of(const BitsVerdict& bits) {
  if (!bits.compared) return nullptr;
  return {{"equal", bits.equal},
          {"difference", bits.difference},
          {"changed_share_d_kv", number(bits.changed_share_d_kv)},
          {"allowed_share", number(bits.allowed_share)}};
}

Json json_of(const CaseFacts& facts) {
  Json straddles = Json::array();
  for (std::size_t rank = 1; rank < facts.straddles.size(); ++rank) {
    straddles.push_back(facts.straddles[rank] > 0 ? 1 : 0);
  }
  return {{"L", facts.rows_per_rank}, {"b", facts.straddles},   {"real", facts.real_rows},
          {"pairs", facts.pairs},     {"straddles", straddles}, {"same_operations", facts.same_operations}};
}

Json json_of(const pack::Path& path) {
  const bool as_asked = path.reason == pack::PathReason::as_asked;
  return {{"asked", pack::name(path.asked)},
          {"taken", pack::name(path.taken)},
          {"reason", as_asked ? Json(nullptr) : Json(pack::name(path.reason))},
          {"detail", path.detail}};
}

Json json_of_checksums(const std::map<std::string, std::uint64_t>& checksums) {
  Json json = Json::object();
  for (const std::string_view result : kResultNames) {
    const auto sum = checksums.find(std::string(result));
    if (sum != checksums.end()) json[std::string(result)] = fmt::format("{:016x}", sum->second);
  }
  return json;
}

bool ran(const CaseRecord& record) { return record.facts.rows_per_rank > 0; }

void add_judgement(const CaseRecord& record, Json& json) {
  const CaseFacts& facts = record.facts;
  json["path"] = json_of(facts.path);
  json["kernel_ran"] = facts.kernel;
  json["facts"] = json_of(facts);
  json["bytes"] = {{"forward", {{"moved", facts.forward_bytes}, {"form", facts.forward_bytes_form}}},
                   {"backward", {{"moved", facts.backward_bytes}, {"form", facts.backward_bytes_form}}}};
  json["tensors"] = json_of_tensors(record.judgement, record.entry);
  json["padding"] = json_of(record.judgement.padding);
  json["invariants"] = json_of(record.judgement.invariants);
  json["bits"] = json_of(record.judgement.bits);
  json["zero_references"] = record.judgement.zero_references;
  if (!record.plan_judgement.tensors.empty()) {
    json["plan_tensors"] = json_of_tensors(record.plan_judgement, record.entry);
    json["plan_padding"] = json_of(record.plan_judgement.padding);
  }
  if (!record.stored_judgement.tensors.empty()) {
    json["stored_tensors"] = json_of_tensors(record.stored_judgement, record.entry);
  }
  json["checksums"] = json_of_checksums(record.checksums);
}

std::vector<std::string> distinct(std::vector<std::string> hosts) {
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

}  // namespace

std::string run_json(const RunInfo& info) {
  return line_of({{"schema", "straddle.run/1"},
                  {"run", info.run_id},
                  {"version", info.version},
                  {"commit", info.commit},
                  {"seed", info.seed},
                  {"cases", info.cases},
                  {"files", info.files},
                  {"titles", info.titles},
                  {"timeout_s", number(info.timeout_s)},
                  {"ranks", info.ranks},
                  {"hosts", info.hosts},
                  {"transport", info.transport},
                  {"kernels", info.kernels},
                  {"not_here", info.not_here},
                  {"folder", info.folder}});
}

std::string case_json(const CaseRecord& record, const RunInfo& info) {
  const Case& point = record.entry.point;
  Json json{{"schema", "straddle.case/1"},
            {"run", info.run_id},
            {"verdict", name(record.verdict)},
            {"case_id", fmt::format("{:08x}", case_id(point))},
            {"case", record.entry.text},
            {"file", record.entry.file},
            {"line", record.entry.line},
            {"repetition", record.repetition},
            {"reasons", record.reasons},
            {"hosts", distinct(info.hosts)},
            {"transport", info.under_mpi ? "mpi" : "threads"},
            {"ranks", point.ranks},
            {"dtype", tensor::name(point.dtype)},
            {"kernel", point.kernel}};
  if (ran(record)) add_judgement(record, json);
  if (!record.where.empty()) json["where"] = record.where;
  json["ms"] = number(record.ms);
  json["repro"] = repro(info, record);
  return line_of(json);
}

std::string summary_json(const RunTotals& totals, const RunInfo& info) {
  Json count = Json::object();
  for (const auto& [verdict, cases] : totals.count) count[std::string(name(verdict))] = cases;
  return line_of({{"schema", "straddle.summary/1"},
                  {"run", info.run_id},
                  {"count", std::move(count)},
                  {"seconds", number(totals.seconds)},
                  {"exit_code", totals.exit_code}});
}

std::optional<ResultLine> parse_result_line(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_string()) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  ResultLine result{.schema = text("schema"),
                    .run_id = text("run"),
                    .result = {.text = text("case"), .verdict = text("verdict"), .file = text("file")}};
  const auto at = json.find("line");
  if (at != json.end() && at->is_number_integer()) result.result.line = at->get<std::int64_t>();
  return result;
}

}  // namespace straddle::harness
