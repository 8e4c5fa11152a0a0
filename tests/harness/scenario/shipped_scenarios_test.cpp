// The scenarios that are shipped: what each of them claims must hold before anything runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "harness/judge/vacuity.hpp"
#include "harness/scenario/scenario.hpp"
#include "pack/cost.hpp"
#include "pack/path.hpp"

namespace straddle::harness {
namespace {

const std::vector<Scenario>& shipped() {
  static const std::vector<Scenario> scenarios =
      load_scenarios(std::vector<std::filesystem::path>{STRADDLE_SOURCE_DIR "/scenarios"});
  return scenarios;
}

template <class Visit>
void for_each_case(Visit visit) {
  for (const Scenario& scenario : shipped()) {
    for (const CaseEntry& entry : scenario.cases) visit(entry);
  }
}

// What the op would see, from the pack layer alone: one node, metadata valid, nothing failed.
CaseFacts facts_of(const Case& point) {
  CaseFacts facts;
  const pack::Pack padded = point.padded();
  facts.rows_per_rank = point.rows_per_rank();
  facts.straddles = pack::straddles(padded, point.ranks);
  facts.real_rows = pack::real_rows(padded, point.ranks);
  facts.pairs = pack::pairs_per_rank(padded, point.ranks);
  pack::PathFacts path;
  path.kernel_varlen = point.kernel != "dense";
  const auto longest = std::max_element(facts.straddles.begin(), facts.straddles.end());
  path.max_straddle = *longest;
  path.max_straddle_rank = longest - facts.straddles.begin();
  path.rows_per_rank = facts.rows_per_rank;
  facts.path = pack::select_path(point.exchange, path);
  return facts;
}

TEST_CASE("every expectation holds, and every exact zero is named") {
  for_each_case([](const CaseEntry& entry) {
    if (entry.not_applicable) return;
    Judgement judgement;
    judgement.zero_references = exact_zeros(entry.point);
    for (const std::string& reason :
         vacuous_reasons(entry.point, entry.expect, facts_of(entry.point), judgement)) {
      FAIL_CHECK(entry.file << ":" << entry.line << ": " << entry.text << ": " << reason);
    }
  });
}

TEST_CASE("eight ranks run at least 1500 cases, no two of them the same") {
  std::set<std::string> texts;
  std::int64_t runs = 0;
  for_each_case([&](const CaseEntry& entry) {
    if (entry.not_applicable || entry.point.ranks > 8) return;
    ++runs;
    if (!texts.insert(entry.text).second) FAIL_CHECK(entry.file << ": " << entry.text << " comes twice");
  });
  MESSAGE("cases at 8 ranks: " << runs);
  CHECK(runs >= 1500);
}

TEST_CASE("every file has a title, facts, and cases at 8 ranks that they bind") {
  for (const Scenario& scenario : shipped()) {
    CAPTURE(scenario.file);
    CHECK_FALSE(scenario.title.empty());
    CHECK(std::any_of(scenario.cases.begin(), scenario.cases.end(), [](const CaseEntry& entry) {
      return entry.point.ranks <= 8 && entry.point.ranks >= entry.expect.min_ranks &&
             !(entry.expect == Expect{});
    }));
  }
}

TEST_CASE("the three packs that see most are in every file that is not about one pack of its own") {
  const std::set<std::string> about_one_pack = {"document_mix", "random_mix",          "real_activations",
                                                "tile_edges",   "one_token_documents", "ramp_logits"};
  for (const Scenario& scenario : shipped()) {
    CAPTURE(scenario.file);
    if (about_one_pack.count(std::filesystem::path(scenario.file).stem().string()) > 0) continue;
    std::set<std::vector<std::int64_t>> seen;
    for (const CaseEntry& entry : scenario.cases) {
      std::vector<std::int64_t> lengths;
      for (const auto& document : entry.point.pack.documents) lengths.push_back(document.length);
      seen.insert(lengths);
    }
    CHECK(seen.count({1, 6, 3}) == 1);
    CHECK(seen.count({2, 11, 3}) == 1);
    CHECK(seen.count({1, 7, 3}) == 1);
  }
}

TEST_CASE("the work is small: gigaflops in all, few cases of more than 200 MFLOP") {
  double total = 0;
  std::int64_t large = 0;
  for_each_case([&](const CaseEntry& entry) {
    const Case& point = entry.point;
    double pairs = 0;
    for (const std::int64_t of_rank : facts_of(point).pairs) pairs += static_cast<double>(of_rank);
    const double flop = pairs * static_cast<double>(point.heads * point.layers) *
                        static_cast<double>(8 * point.head_dim + 6 * point.v_head_dim);
    total += flop;
    large += flop > 2e8;
  });
  MESSAGE("GFLOP of all cases: " << total / 1e9 << ", cases over 200 MFLOP: " << large);
  CHECK(total < 40e9);
  CHECK(large <= 50);
}

}  // namespace
}  // namespace straddle::harness
