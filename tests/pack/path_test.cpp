#include "pack/path.hpp"

#include <doctest/doctest.h>

#include <set>

namespace straddle::pack {
namespace {

constexpr ExchangeKind kAllKinds[] = {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a};

// documents 2, 11, 3 over four ranks: b = 0 2 6 10, L = 4.
PathFacts three_ranks() {
  PathFacts facts;
  facts.max_straddle = 10;
  facts.max_straddle_rank = 3;
  facts.rows_per_rank = 4;
  return facts;
}

TEST_CASE("without an obstacle the path is the one asked for, with no reason and no detail") {
  PathFacts facts;
  facts.max_straddle = 4;  // = L: the halo just reaches
  facts.max_straddle_rank = 1;
  facts.rows_per_rank = 4;
  for (const ExchangeKind kind : kAllKinds) {
    CHECK(select_path(kind, facts) == Path{kind, kind, PathReason::as_asked, ""});
  }
}

TEST_CASE("a halo that would have to reach over a whole rank becomes an a2a; the others are untouched") {
  CHECK(select_path(ExchangeKind::halo, three_ranks()) ==
        Path{ExchangeKind::halo, ExchangeKind::a2a, PathReason::halo_short,
             "rank 3 needs 10 rows to its left, rank 2 owns 4"});
  CHECK(select_path(ExchangeKind::a2a, three_ranks()).reason == PathReason::as_asked);
  CHECK(select_path(ExchangeKind::allgather, three_ranks()).reason == PathReason::as_asked);
}

TEST_CASE("STRADDLE_ALLOW_XNODE lets a group that spans nodes exchange what is needed only") {
  PathFacts facts;
  facts.spans_nodes = true;
  CHECK(select_path(ExchangeKind::a2a, facts).taken == ExchangeKind::allgather);
  CHECK(select_path(ExchangeKind::a2a, facts).detail ==
        "the group spans nodes; STRADDLE_ALLOW_XNODE=1 on rank 0 allows it");
  facts.allow_xnode = true;
  CHECK(select_path(ExchangeKind::a2a, facts).taken == ExchangeKind::a2a);
}

TEST_CASE("the first rule that holds gives the reason, for every combination of facts") {
  for (unsigned bits = 0; bits < 64; ++bits) {
    PathFacts facts;
    facts.kernel_varlen = !(bits & 1);
    facts.metadata_valid = !(bits & 2);
    facts.spans_nodes = bits & 4;
    facts.allow_xnode = bits & 8;
    if (bits & 16) facts.preflight_failed_rank = 2;
    facts.rows_per_rank = 4;
    facts.max_straddle = bits & 32 ? 5 : 3;
    facts.max_straddle_rank = 1;
    for (const ExchangeKind asked : kAllKinds) {
      Path expected{asked, ExchangeKind::allgather, PathReason::as_asked, ""};
      if (asked == ExchangeKind::allgather) {
        // Nothing is changed, so there is nothing to give a reason for.
      } else if (bits & 1) {
        expected.reason = PathReason::kernel_not_varlen;
      } else if (bits & 2) {
        expected.reason = PathReason::no_metadata;
      } else if ((bits & 4) && !(bits & 8)) {
        expected.reason = PathReason::spans_nodes;
      } else if (bits & 16) {
        expected.reason = PathReason::preflight_failed;
      } else if ((bits & 32) && asked == ExchangeKind::halo) {
        expected.reason = PathReason::halo_short;
        expected.taken = ExchangeKind::a2a;
      } else {
        expected.taken = asked;
      }
      const Path path = select_path(asked, facts);
      CAPTURE(bits);
      CAPTURE(name(asked));
      CHECK(path.asked == asked);
      CHECK(path.taken == expected.taken);
      CHECK(path.reason == expected.reason);
      CHECK(path.detail.empty() == (path.reason == PathReason::as_asked));
    }
  }
}

TEST_CASE("a failed preflight names the rank") {
  PathFacts facts;
  facts.preflight_failed_rank = 2;
  CHECK(select_path(ExchangeKind::a2a, facts).detail == "the kernel of rank 2 can't run this case");
}

TEST_CASE("each reason has a name of its own") {
  std::set<std::string_view> names;
  for (const PathReason reason :
       {PathReason::as_asked, PathReason::kernel_not_varlen, PathReason::no_metadata, PathReason::spans_nodes,
        PathReason::preflight_failed, PathReason::halo_short}) {
    names.insert(name(reason));
  }
  CHECK(names == std::set<std::string_view>{"as_asked", "kernel_not_varlen", "no_metadata", "spans_nodes",
                                            "preflight_failed", "halo_short"});
}

}  // namespace
}  // namespace straddle::pack
