#include "pack/pack.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace straddle::pack {
namespace {

using Entries = std::vector<std::int64_t>;

TEST_CASE("a pack counts its tokens and knows its gaps") {
  const Pack end_to_end{{{0, 5}, {5, 3}}, 10};
  CHECK(end_to_end.real_tokens() == 8);
  CHECK_FALSE(end_to_end.gapped());
  CHECK(end_to_end.cu_seqlens() == Entries{0, 5, 8});

  const Pack gap_between{{{0, 3}, {4, 2}}, 8};
  CHECK(gap_between.real_tokens() == 5);
  CHECK(gap_between.gapped());
  CHECK_THROWS_WITH_AS(gap_between.cu_seqlens(),
                       "a gapped pack has no cu_seqlens: document 1 starts at slot 4, the one before it ends "
                       "at 3; use starts and lengths",
                       PackError);
  CHECK(Pack{{{1, 3}}, 4}.gapped());

  const Pack padding_only{{}, 4};
  CHECK(padding_only.real_tokens() == 0);
  CHECK_FALSE(padding_only.gapped());
  CHECK(padding_only.cu_seqlens() == Entries{0});
}

TEST_CASE("padding to a multiple of the ranks adds the fewest slots and changes no document") {
  for (std::int64_t slots = 0; slots <= 20; ++slots) {
    for (std::int64_t ranks = 1; ranks <= 8; ++ranks) {
      const Pack padded = Pack{{{0, slots}}, slots}.padded_to_multiple_of(ranks);
      CAPTURE(slots);
      CAPTURE(ranks);
      CHECK(padded.slots % ranks == 0);
      CHECK(padded.slots >= slots);
      CHECK(padded.slots < slots + ranks);
      CHECK(padded.documents == std::vector<Document>{{0, slots}});
    }
  }
  CHECK_THROWS_WITH_AS(Pack{}.padded_to_multiple_of(0), "ranks = 0: there must be at least one", PackError);
  const Pack huge{{}, std::numeric_limits<std::int64_t>::max()};
  CHECK_THROWS_AS(huge.padded_to_multiple_of(2), PackError);
  CHECK(huge.padded_to_multiple_of(7) == huge);  // 2^63 - 1 = 7 * 7 * ..
}

TEST_CASE("validate names the document and the rule") {
  CHECK_NOTHROW(Pack{{{1, 2}, {3, 1}}, 4}.validate());
  CHECK_NOTHROW(Pack{}.validate());
  CHECK_THROWS_WITH_AS((Pack{{}, -1}.validate()), "slots = -1: must not be negative", PackError);
  CHECK_THROWS_WITH_AS((Pack{{{0, 2}, {2, 0}}, 4}.validate()),
                       "document 1: length 0 must be at least 1 (empty ones vanish)", PackError);
  CHECK_THROWS_WITH_AS((Pack{{{0, 2}, {1, 2}}, 4}.validate()),
                       "document 1: starts at slot 1, before slot 2, where the document before it ends",
                       PackError);
  CHECK_THROWS_WITH_AS((Pack{{{-1, 2}}, 4}.validate()),
                       "document 0: starts at slot -1, before slot 0, where the row starts", PackError);
  CHECK_THROWS_WITH_AS((Pack{{{0, 2}, {2, 3}}, 4}.validate()),
                       "document 1: 3 slots from 2 do not fit into slots = 4", PackError);
  CHECK_THROWS_WITH_AS((Pack{{{5, 1}}, 4}.validate()), "document 0: 1 slots from 5 do not fit into slots = 4",
                       PackError);
  const std::int64_t two_to_62 = std::int64_t{1} << 62;  // start + length overflows
  CHECK_THROWS_AS((Pack{{{two_to_62, two_to_62}}, two_to_62 + 1}.validate()), PackError);
}

}  // namespace
}  // namespace straddle::pack
