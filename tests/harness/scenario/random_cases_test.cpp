#include "harness/scenario/random_cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "harness/scenario/matrix.hpp"
#include "pack/path.hpp"
#include "pack/plan.hpp"
#include "scenario_texts.hpp"

namespace straddle::harness {
namespace {

constexpr std::int64_t kCount = 2000;

const std::vector<CaseEntry>& drawn() {
  static const auto cases = random_cases(kCount, 7, 8, {"cpu", "dense"});
  return cases;
}

template <class Of>
auto values(Of of) {
  std::set<decltype(of(drawn().front()))> seen;
  for (const CaseEntry& entry : drawn()) seen.insert(of(entry));
  return seen;
}

TEST_CASE("a case depends on seed and index alone") {
  const auto fewer = random_cases(50, 7, 8, {"cpu", "dense"});
  for (std::size_t i = 0; i < fewer.size(); ++i) CHECK(fewer[i].text == drawn()[i].text);
  CHECK(random_cases(50, 8, 8, {"cpu", "dense"})[0].text != drawn()[0].text);
}

TEST_CASE("every drawn case is legal, plannable, cheap and not vacuous") {
  double flop = 0;
  for (const CaseEntry& entry : drawn()) {
    const Case& point = entry.point;
    CAPTURE(entry.text);
    REQUIRE_FALSE(not_applicable(point).has_value());
    REQUIRE(point.ranks >= 1);
    REQUIRE(point.ranks <= 8);
    REQUIRE(point.pack.slots <= 2048);
    REQUIRE(point.heads % point.kv_heads == 0);
    REQUIRE(point.head_dim >= 1);
    REQUIRE(point.head_dim <= 256);
    REQUIRE_NOTHROW(point.pack.validate());
    REQUIRE_FALSE(point.pack.documents.empty());
    REQUIRE(entry.expect.zero == exact_zeros(point));
    for (std::int64_t rank = 0; rank < point.ranks; ++rank) {
      REQUIRE_NOTHROW((void)pack::make_plan(point.padded(), point.ranks, rank));
    }
    for (const auto& document : point.pack.documents) {
      const auto n = static_cast<double>(document.length);
      flop += n * (n + 1) / 2 * static_cast<double>(point.heads * point.layers) *
              static_cast<double>(8 * point.head_dim + 6 * point.v_head_dim);
    }
  }
  CHECK(flop / kCount < 6e6);  // milliseconds of one core
}

// With logits this far apart all weight is on one key, and d_q and d_k vanish in the rounding of the oracle.
TEST_CASE("no drawn ramp is too steep for its longest document") {
  for (const CaseEntry& entry : drawn()) {
    if (entry.point.inputs.kind != InputKind::ramp) continue;
    std::int64_t longest = 0;
    for (const auto& document : entry.point.pack.documents) longest = std::max(longest, document.length);
    if (longest == 1) continue;
    CAPTURE(entry.text);
    CHECK(2 * entry.point.inputs.amplitude / static_cast<double>(longest - 1) <= 8);
  }
}

TEST_CASE("everything that there is gets drawn") {
  CHECK(values([](const CaseEntry& e) { return e.point.ranks; }).size() == 8);
  CHECK(values([](const CaseEntry& e) { return e.point.heads / e.point.kv_heads; }) ==
        std::set<std::int64_t>{1, 2, 3, 4, 8});
  const auto dims = values([](const CaseEntry& e) { return e.point.head_dim; });
  for (const std::int64_t dim : {16, 64, 80, 96, 128, 256}) CHECK(dims.count(dim) == 1);
  CHECK(dims.size() > 30);
  CHECK(values([](const CaseEntry& e) { return e.point.dtype; }).size() == 4);
  CHECK(values([](const CaseEntry& e) { return e.point.exchange; }).size() == 3);
  CHECK(values([](const CaseEntry& e) { return e.point.kernel; }).size() == 2);
  CHECK(values([](const CaseEntry& e) { return e.point.reduce; }).size() == 2);
  CHECK(values([](const CaseEntry& e) { return e.point.inputs.kind; }).size() == 5);
  CHECK(values([](const CaseEntry& e) { return e.point.probe; }).size() == 3);
  const auto some = [](auto of) { return std::count_if(drawn().begin(), drawn().end(), of); };
  CHECK(some([](const CaseEntry& e) { return e.point.pack.slots >= 1024; }) > kCount / 50);
  CHECK(some([](const CaseEntry& e) { return e.point.pack.slots == 1; }) > 0);
  CHECK(some([](const CaseEntry& e) { return e.empty_documents > 0; }) > kCount / 20);
  CHECK(some([](const CaseEntry& e) { return e.point.pack.gapped(); }) > kCount / 50);
  CHECK(some([](const CaseEntry& e) { return e.point.inputs.d_lse; }) > kCount / 20);
  CHECK(some([](const CaseEntry& e) { return e.point.inputs.padding_rows == PaddingRows::nan; }) >
        kCount / 20);
  CHECK(some([](const CaseEntry& e) { return e.point.recompute && e.point.layers > 1; }) > 5);
  CHECK(some([](const CaseEntry& e) { return e.point.first_segment_apart; }) > kCount / 20);
  CHECK(some([](const CaseEntry& e) { return e.point.softmax_scale.has_value(); }) > kCount / 50);
  const auto longest_straddle = [](const Case& point) {
    const auto straddles = pack::straddles(point.padded(), point.ranks);
    return *std::max_element(straddles.begin(), straddles.end());
  };
  CHECK(some([&](const CaseEntry& e) { return longest_straddle(e.point) > 0; }) > kCount / 2);
  CHECK(some([&](const CaseEntry& e) { return longest_straddle(e.point) > e.point.rows_per_rank(); }) >
        kCount / 10);
  CHECK(some([](const CaseEntry& e) {
          const auto rows = pack::real_rows(e.point.padded(), e.point.ranks);
          return std::count(rows.begin(), rows.end(), 0) > 0;
        }) > kCount / 10);
}

}  // namespace
}  // namespace straddle::harness
