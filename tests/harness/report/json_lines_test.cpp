#include "harness/report/json_lines.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "golden.hpp"
#include "hand_made.hpp"
#include "harness/report/json_text.hpp"
#include "scratch.hpp"

namespace straddle::harness {
namespace {

using Json = nlohmann::json;

// Everything a record can hold: infinities, a plan run, stored results, wrong padding.
CaseRecord full_record() {
  CaseRecord record = hand_made::pass(hand_made::entry("W2/3+1/H4:2/D64/bf16/a2a/cpu/s7"), 512);
  record.verdict = Verdict::mismatch;
  TensorVerdict& d_q = hand_made::tensor_of(record.judgement, "d_q", 0);
  hand_made::make_wrong(d_q, {1}, {{2, 3}}, hand_made::kInfinity, 0);
  d_q.criterion = Criterion::not_finite;
  d_q.worst->got = hand_made::kNaN;
  d_q.float_reference = hand_made::kNaN;
  record.judgement.padding[1].rows = 1;
  record.judgement.padding[1].wrong_rows = 1;
  record.judgement.padding[1].first =
      Place{.token = 3, .rank = 1, .local_row = 1, .want = -hand_made::kInfinity};
  record.judgement.invariants[1].used = 3e-6;
  record.judgement.bits = {.compared = true,
                           .equal = false,
                           .difference = "d_q token 2",
                           .changed_share_d_kv = 0.5,
                           .allowed_share = 0.01};
  record.judgement.zero_references = {"d_k"};
  record.plan_judgement.tensors = {record.judgement.tensors[0]};
  record.stored_judgement.tensors = {record.judgement.tensors[1]};
  record.reasons = {"a \"quoted\" reason with \x01 and \xff"};
  record.where = {"#2 barrier a"};
  record.facts.straddles = {0, 2};
  record.facts.real_rows = {2, 1};
  record.facts.pairs = {3, 3};
  record.facts.path = {.asked = pack::ExchangeKind::halo,
                       .taken = pack::ExchangeKind::a2a,
                       .reason = pack::PathReason::halo_short,
                       .detail = "rank 1 needs 2 rows"};
  return record;
}

std::string json_lines(const std::vector<CaseRecord>& records) {
  std::ostringstream out;
  const auto reporter = json_lines_reporter(out);
  reporter->begin(hand_made::run());
  for (const CaseRecord& record : records) reporter->after_case(record);
  reporter->end(hand_made::totals(records));
  return out.str();
}

TEST_CASE("a run as JSON Lines") {
  const std::string text = json_lines({full_record(), hand_made::skipped(), hand_made::hang()});
  check_golden("results.jsonl", text);
  const auto lines = lines_of(text);
  REQUIRE(lines.size() == 5);
  CHECK(Json::parse(lines[0])["schema"] == "straddle.run/1");
  CHECK(Json::parse(lines[1])["schema"] == "straddle.case/1");
  CHECK(Json::parse(lines[4])["schema"] == "straddle.summary/1");
  CHECK(Json::parse(lines[4])["count"]["hang"] == 1);
  CHECK(Json::parse(lines[4])["exit_code"] == 3);
}

TEST_CASE("a record keeps every tensor x document with its numbers") {
  CaseRecord record = hand_made::mismatch();
  record.judgement.invariants[0].used = 0.1;  // I2 of document 0 too, less than document 1's
  const Json json = Json::parse(case_json(record, hand_made::run()));
  CHECK(json["case"] == record.entry.text);
  CHECK(json["verdict"] == "mismatch");
  REQUIRE(json["tensors"].size() == record.judgement.tensors.size());
  for (std::size_t i = 0; i < json["tensors"].size(); ++i) {
    const Json& tensor = json["tensors"][i];
    const TensorVerdict& verdict = record.judgement.tensors[i];
    CHECK(tensor["name"] == verdict.tensor);
    CHECK(tensor["document"] == verdict.document);
    CHECK(tensor["used"].get<double>() == verdict.used);
    CHECK(tensor["allowed"].get<double>() == verdict.allowed);
    CHECK(tensor["ratio"].get<double>() == verdict.ratio);
    CHECK(tensor["float_reference"].get<double>() == verdict.float_reference);
    CHECK(tensor["rows"].size() == verdict.wrong_ranges.size());
    CHECK(tensor["criterion"] == "element");
  }
  const Json& d_k = json["tensors"][10];
  CHECK(d_k["rows"] == Json::parse("[[2, 8]]"));
  CHECK(d_k["heads"] == Json::parse("[0, 1]"));
  CHECK(d_k["wrong_ranks"] == Json::parse("[0, 1]"));
  CHECK(d_k["first_rank"] == 0);
  CHECK(d_k["relative"] == Json::parse("[0.43, 0.58, 1.7e-7, 1.9e-7]"));
  CHECK(d_k["worst"]["token"] == 7);
  CHECK(json["tensors"][11]["first_rank"] == 3);
  CHECK(json["tensors"][11]["relative"].size() == 1);
  CHECK(json["checksums"]["d_v"] == "ffffffffffffffff");
  CHECK(json["checksums"]["d_k"] == "0000000000000001");
  CHECK(json["facts"]["b"] == Json::parse("[0, 2, 6, 10]"));
  CHECK(json["facts"]["straddles"] == Json::parse("[1, 1, 1]"));
  CHECK(json["bytes"]["forward"]["moved"] == 18432);
  CHECK(json["path"]["reason"].is_null());
  CHECK(json["invariants"]["checked"] == 15);
  CHECK(json["invariants"]["broken_or_worst"].size() == 6);  // the 5 broken ones, and of I6 the worst
}

TEST_CASE("numbers that JSON has no word for are strings, and every byte is taken") {
  const Json json = Json::parse(case_json(full_record(), hand_made::run()));
  const Json& d_q = json["tensors"][2];
  CHECK(d_q["used"] == "inf");
  CHECK(d_q["float_reference"] == "nan");
  CHECK(d_q["worst"]["got"] == "nan");
  CHECK(json["padding"][1]["first"]["want"] == "-inf");
  CHECK(json["reasons"][0].get<std::string>().starts_with("a \"quoted\" reason with \x01 and "));
  CHECK(json["path"]["reason"] == "halo_short");
  CHECK(json["plan_tensors"].size() == 1);
  CHECK(json["stored_tensors"].size() == 1);
}

TEST_CASE("what did not run has no tensors, facts or bytes") {
  const Json json = Json::parse(case_json(hand_made::skipped(), hand_made::run()));
  for (const char* key : {"tensors", "facts", "bytes", "bits", "checksums"}) CHECK(!json.contains(key));
  CHECK(json["reasons"][0] == "needs 8 ranks, 4 started");
}

TEST_CASE("a line is in the file when the call returns") {
  const Scratch folder;
  const auto path = folder.path() / "results.jsonl";
  const auto reporter = json_lines_reporter(std::make_unique<OutputFile>(path));
  reporter->begin(hand_made::run());
  CHECK(lines_of(content_of(path.string())).size() == 1);
  reporter->after_case(hand_made::mismatch());
  CHECK(lines_of(content_of(path.string())).size() == 2);
  CHECK(content_of(path.string()).back() == '\n');
}

TEST_CASE("a reader that is gone and a full disk are errors") {
  const auto full = json_lines_reporter(std::make_unique<OutputFile>("/dev/full"));
  CHECK_THROWS_AS(full->begin(hand_made::run()), OutputError);
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  CHECK_THROWS_AS(json_lines_reporter(out)->begin(hand_made::run()), OutputError);
}

}  // namespace
}  // namespace straddle::harness
