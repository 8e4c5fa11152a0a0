#include "pack/plan.hpp"

#include <doctest/doctest.h>

#include "pack/cost.hpp"
#include "pack/describe.hpp"
#include "pack/validate.hpp"

namespace straddle::pack {
namespace {

using Entries = std::vector<std::int64_t>;
using Cu = std::vector<std::int32_t>;

TEST_CASE("the plan of documents 2, 11, 3 over four ranks, entry by entry") {
  const Pack pack = from_lengths(Entries{2, 11, 3});
  const Plan plan = make_plan(pack, 4, 3);
  CHECK(plan.rank == 3);
  CHECK(plan.ranks == 4);
  CHECK(plan.rows_per_rank == 4);
  CHECK(plan.straddle == 10);
  CHECK(plan.max_straddle == 10);
  CHECK(plan.real_rows == 4);
  CHECK(plan.key_begin == 2);
  CHECK(plan.key_end == 16);
  CHECK(plan.segments == std::vector<Segment>{{1, 0, 1, 11}, {2, 1, 3, 3}});
  CHECK(plan.cu_seqlens_q == Cu{0, 1, 4});
  CHECK(plan.cu_seqlens_k == Cu{0, 11, 14});
  CHECK(plan.max_seqlen_q == 3);
  CHECK(plan.max_seqlen_k == 11);
  CHECK(plan.receives == std::vector<Transfer>{{0, 2, 2}, {1, 4, 4}, {2, 8, 4}});
  CHECK(plan.sends.empty());
  CHECK(plan.pairs() == 17);
  CHECK(make_plan(pack, 4, 0).sends == std::vector<Transfer>{{1, 2, 2}, {2, 2, 2}, {3, 2, 2}});
  CHECK(make_plan(pack, 4, 1).sends == std::vector<Transfer>{{2, 4, 4}, {3, 4, 4}});
}

TEST_CASE("a rank of padding alone has a plan without rows") {
  const Plan plan = make_plan(from_lengths(Entries{1, 7, 3}, 16), 4, 3);
  CHECK(plan.real_rows == 0);
  CHECK(plan.key_begin == 12);
  CHECK(plan.key_end == 12);
  CHECK(plan.segments.empty());
  CHECK(plan.cu_seqlens_q == Cu{0});
  CHECK(plan.cu_seqlens_k == Cu{0});
  CHECK(plan.receives.empty());
  CHECK(plan.sends.empty());
  CHECK(plan.compact());
  CHECK_FALSE(find_violation(plan));
}

TEST_CASE("boundaries of a rank are those of its rows, not the global ones divided by W (R03)") {
  const Pack pack = from_lengths(Entries{5, 3});
  CHECK(make_plan(pack, 2, 0).cu_seqlens_q == Cu{0, 4});
  CHECK(make_plan(pack, 2, 1).cu_seqlens_q == Cu{0, 1, 4});
  CHECK(make_plan(pack, 2, 1).cu_seqlens_k == Cu{0, 5, 8});
}

TEST_CASE("a shard that starts inside a document has prefix sums from 0 all the same (R10)") {
  const Plan plan = make_plan(from_lengths(Entries{8}), 2, 1);
  CHECK(plan.cu_seqlens_q == Cu{0, 4});
  CHECK(plan.cu_seqlens_k == Cu{0, 8});
}

TEST_CASE("a gapped pack keeps where its runs lie in the shard (R09)") {
  const Pack pack = from_starts(Entries{0, 4, 8}, Entries{3, 2, 4}, 14);
  const Plan first = make_plan(pack, 2, 0);
  CHECK(first.segments == std::vector<Segment>{{0, 0, 3, 3}, {1, 4, 2, 2}});
  CHECK(first.real_rows == 5);
  CHECK(first.key_end == 6);
  CHECK_FALSE(first.compact());
  const Plan second = make_plan(pack, 2, 1);
  CHECK(second.segments == std::vector<Segment>{{2, 1, 4, 4}});
  CHECK(second.straddle == 0);
  CHECK(second.key_begin == 7);
  CHECK(second.key_end == 12);
}

TEST_CASE("empty documents leave no trace in any plan (R18)") {
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    CHECK(make_plan(from_lengths(Entries{4, 0, 4}), 2, rank) ==
          make_plan(from_lengths(Entries{4, 4}), 2, rank));
    CHECK(make_plan(from_lengths(Entries{5, 0, 0}, 8), 2, rank) ==
          make_plan(from_lengths(Entries{5}, 8), 2, rank));
  }
}

TEST_CASE("a plan computed anew, or from a geometry kept, is the same plan") {
  const Pack pack = from_lengths(Entries{1, 7, 3}, 16);
  const PackGeometry geometry(pack, 4);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    CHECK(make_plan(geometry, rank) == make_plan(pack, 4, rank));
    CHECK(make_plan(pack, 4, rank) == make_plan(pack, 4, rank));
    CHECK(make_plan(geometry, rank).pack_hash == geometry.hash());
    Plan local = make_plan(geometry, rank);
    local.receives.clear();
    local.sends.clear();
    CHECK(make_local_plan(geometry, rank) == local);
  }
}

TEST_CASE("a rank outside the group and a row that can't be shared are refused") {
  const Pack pack = from_lengths(Entries{4, 3});
  CHECK_THROWS_WITH_AS(make_plan(pack, 7, 7), "rank 7 must lie in [0, 7), the ranks of the group", PackError);
  CHECK_THROWS_AS(make_plan(pack, 7, -1), PackError);
  CHECK_THROWS_AS(make_plan(pack, 2, 0), PackError);
}

TEST_CASE("every rank refuses a pack that is too long for one rank's int32") {
  const Pack pack = from_lengths(Entries{std::int64_t{1} << 31});
  for (std::int64_t rank = 0; rank < 2; ++rank) CHECK_THROWS_AS(make_plan(pack, 2, rank), PackError);
}

TEST_CASE("exchange names and their values are one to one") {
  for (const ExchangeKind kind : {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a}) {
    CHECK(parse_exchange(name(kind)) == kind);
  }
  CHECK(name(ExchangeKind::a2a) == "a2a");
  CHECK_THROWS_WITH_AS(parse_exchange("A2A"), "unknown exchange \"A2A\": one of allgather, halo, a2a",
                       PackError);
}

TEST_CASE("the text of a plan") {
  Plan plan = make_plan(from_lengths(Entries{2, 11, 3}), 4, 3);
  plan.pack_hash = 0xabc;
  CHECK(text(plan) ==
        "rank 3 of 4, rows [12,16), 4 real, straddle 10 (largest 10)\n"
        "needs [2,16)\n"
        "segments document 1 at row 0, q 1, k 11; document 2 at row 1, q 3, k 3\n"
        "cu_seqlens_q 0 1 4 max 3\n"
        "cu_seqlens_k 0 11 14 max 11\n"
        "receives [2,4) from 0, [4,8) from 1, [8,12) from 2\n"
        "sends nothing\n"
        "pack 0000000000000abc\n");
}

// What a plan must hold in all, and what all plans must move, at a size where a cost of ranks x documents or
// ranks x ranks would show as minutes or gigabytes.
TEST_CASE("plans of 4096 ranks over 16 million tokens in 100 thousand documents fit together") {
  const std::int64_t ranks = 4096;
  const std::int64_t slots = std::int64_t{1} << 24;
  Entries lengths;
  std::int64_t tokens = 0;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    lengths.push_back(1 + i * 7919 % 320);  // 1 to 320, mean 160.5
    tokens += lengths.back();
  }
  const Pack pack = from_lengths(lengths, slots);
  const PackGeometry geometry(pack, ranks);
  std::int64_t real = 0, sent = 0, received = 0, pairs = 0, runs = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const Plan plan = make_plan(geometry, rank);
    REQUIRE_FALSE(find_violation(plan));
    real += plan.real_rows;
    pairs += plan.pairs();
    runs += static_cast<std::int64_t>(plan.segments.size());
    for (const Transfer& transfer : plan.sends) sent += transfer.rows;
    for (const Transfer& transfer : plan.receives) received += transfer.rows;
  }
  std::int64_t triangles = 0, straddling = 0, start = 0;
  for (const std::int64_t length : lengths) {
    triangles += length * (length + 1) / 2;
    straddling += start / 4096 != (start + length - 1) / 4096;
    start += length;
  }
  CHECK(real == tokens);
  CHECK(pairs == triangles);
  CHECK(runs == 100'000 + straddling);  // no document is long enough to meet two cuts
  CHECK(sent == received);
  CHECK(sent == moved_rows(ExchangeKind::a2a, geometry));
}

}  // namespace
}  // namespace straddle::pack
