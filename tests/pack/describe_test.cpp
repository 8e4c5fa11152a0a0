#include "pack/describe.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <vector>

namespace straddle::pack {
namespace {

using Entries = std::vector<std::int64_t>;

constexpr std::int64_t kTwoTo62 = std::int64_t{1} << 62;

// The documents of each of the 2^(tokens - 1) compositions of `tokens`.
std::vector<Entries> compositions(std::int64_t tokens) {
  if (tokens == 0) return {{}};
  std::vector<Entries> all;
  for (std::int64_t first = 1; first <= tokens; ++first) {
    for (Entries rest : compositions(tokens - first)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

TEST_CASE(
    "all descriptions of a pack give the same pack, for every pack of up to 10 tokens and 3 of padding") {
  for (std::int64_t tokens = 0; tokens <= 10; ++tokens) {
    for (const Entries& lengths : compositions(tokens)) {
      for (std::int64_t padding = 0; padding <= 3; ++padding) {
        const std::int64_t slots = tokens + padding;
        Entries cu{0}, starts, ids, positions;
        for (std::size_t d = 0; d < lengths.size(); ++d) {
          starts.push_back(cu.back());
          cu.push_back(cu.back() + lengths[d]);
          for (std::int64_t t = 0; t < lengths[d]; ++t) {
            ids.push_back(100 - static_cast<std::int64_t>(d));  // any value but 0 names a document
            positions.push_back(t);
          }
        }
        ids.resize(slots, 0);
        positions.resize(slots, 0);
        CAPTURE(fmt::format("{}", fmt::join(lengths, ",")));
        CAPTURE(padding);
        const Pack pack = from_lengths(lengths, slots);
        REQUIRE_NOTHROW(pack.validate());
        REQUIRE(pack.slots == slots);
        REQUIRE(pack.documents.size() == lengths.size());
        REQUIRE(pack.cu_seqlens() == cu);
        REQUIRE(from_cu_seqlens(cu, slots) == pack);
        REQUIRE(from_starts(starts, lengths, slots) == pack);
        REQUIRE(from_document_ids(ids) == pack);
        REQUIRE(from_document_ids(ids, Entries{slots}) == pack);
        REQUIRE(from_document_ids(ids, Entries{1, slots}) == pack);
        REQUIRE(from_position_ids(positions, tokens) == pack);
        if (padding == 0) {
          REQUIRE(from_lengths(lengths) == pack);
          REQUIRE(from_cu_seqlens(cu) == pack);
          REQUIRE(from_starts(starts, lengths) == pack);
          REQUIRE(from_position_ids(positions) == pack);
        }
      }
    }
  }
}

TEST_CASE("documents of no length vanish, wherever they stand (R18)") {
  CHECK(from_lengths(Entries{4, 0, 4}) == from_lengths(Entries{4, 4}));
  CHECK(from_lengths(Entries{5, 0, 0}, 8) == from_lengths(Entries{5}, 8));
  CHECK(from_lengths(Entries{0, 0, 5}) == from_lengths(Entries{5}));
  CHECK(from_cu_seqlens(Entries{0, 4, 4, 8}) == from_lengths(Entries{4, 4}));
  CHECK(from_cu_seqlens(Entries{0, 0, 5, 5, 5}, 8) == from_lengths(Entries{5}, 8));
  CHECK(from_starts(Entries{0, 4, 4}, Entries{4, 0, 4}) == from_lengths(Entries{4, 4}));
  CHECK(from_lengths(Entries{}, 4) == Pack{{}, 4});
  CHECK(from_cu_seqlens(Entries{0}, 4) == Pack{{}, 4});
}

TEST_CASE("lengths: a negative one, one too many and one that overflows are refused") {
  CHECK_THROWS_WITH_AS(from_lengths(Entries{8, 512, -1}, 528), "lengths[2] = -1: must not be negative",
                       PackError);  // R14
  CHECK_THROWS_WITH_AS(from_lengths(Entries{5, 4}, 8),
                       "the last of 2 documents ends at 9, past the end of the row: slots = 8", PackError);
  CHECK_THROWS_WITH_AS(from_lengths(Entries{1}, -8), "slots = -8: must not be negative", PackError);
  CHECK_THROWS_WITH_AS(
      from_lengths(Entries{kTwoTo62, kTwoTo62}),
      "sum of lengths[0] to lengths[1]: 4611686018427387904 + 4611686018427387904 does not fit "
      "into 64 bits",
      PackError);
  CHECK(from_lengths(Entries{kTwoTo62, kTwoTo62 - 1}).slots == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("cu_seqlens: must start with 0, must not decrease and must end inside the row") {
  CHECK_THROWS_WITH_AS(from_cu_seqlens(Entries{}, 8),
                       "cu_seqlens is empty: it must hold a 0 and then the end of each document", PackError);
  CHECK_THROWS_WITH_AS(from_cu_seqlens(Entries{8, 8}, 8), "cu_seqlens[0] = 8: the first entry must be 0",
                       PackError);  // R15
  CHECK_THROWS_WITH_AS(from_cu_seqlens(Entries{4, 12}, 8), "cu_seqlens[0] = 4: the first entry must be 0",
                       PackError);  // R10
  CHECK_THROWS_WITH_AS(from_cu_seqlens(Entries{-4, 8}, 8), "cu_seqlens[0] = -4: the first entry must be 0",
                       PackError);
  CHECK_THROWS_WITH_AS(from_cu_seqlens(Entries{0, 8, 520, 16}, 528),
                       "cu_seqlens[3] = 16 is smaller than cu_seqlens[2] = 520: must not decrease",
                       PackError);  // R14
  CHECK_THROWS_WITH_AS(from_cu_seqlens(Entries{0, 8, 16, 24}, 8),
                       "cu_seqlens[3] (the terminal entry) ends at 24, past the end of the row: slots = 8",
                       PackError);  // R16
  CHECK_THROWS_AS(from_cu_seqlens(Entries{0, -1}), PackError);
  const std::int64_t min = std::numeric_limits<std::int64_t>::min();
  CHECK_THROWS_AS(from_cu_seqlens(Entries{0, 5, min}), PackError);  // 5 - min would overflow
}

TEST_CASE("starts and lengths: the starts count, not the prefix sums of the lengths (R09)") {
  const Pack pack = from_starts(Entries{0, 4, 8}, Entries{3, 2, 4}, 13);
  CHECK(pack == Pack{{{0, 3}, {4, 2}, {8, 4}}, 13});
  CHECK(pack.gapped());
  CHECK(from_starts(Entries{0, 4, 8}, Entries{3, 2, 4}).slots == 12);  // ends with the last document
  CHECK_THROWS_WITH_AS(from_starts(Entries{0, 4}, Entries{3}),
                       "2 starts but 1 lengths: each document has one of both", PackError);
  CHECK_THROWS_WITH_AS(from_starts(Entries{0, 2}, Entries{3, 2}),
                       "starts[1] = 2 lies before 3, the end of document 0: must be ascending and must not "
                       "overlap",
                       PackError);
  CHECK_THROWS_WITH_AS(from_starts(Entries{-2}, Entries{3}), "starts[0] = -2: must not be negative",
                       PackError);
  CHECK_THROWS_WITH_AS(from_starts(Entries{0, 4}, Entries{3, -2}), "lengths[1] = -2: must not be negative",
                       PackError);
  CHECK_THROWS_WITH_AS(from_starts(Entries{0, 6}, Entries{3, 3}, 8),
                       "the last of 2 documents ends at 9, past the end of the row: slots = 8", PackError);
  CHECK_THROWS_AS(from_starts(Entries{kTwoTo62}, Entries{kTwoTo62}), PackError);
}

TEST_CASE("document ids: padding is a tail, a document is one run, the shape is one row") {
  CHECK_THROWS_WITH_AS(
      from_document_ids(Entries{1, 1, 0, 2}),
      "document_ids[3] = 2 follows padding: padding (0) must be a tail; use starts and lengths "
      "for a pack with gaps",
      PackError);
  CHECK_THROWS_AS(from_document_ids(Entries{0, 1}), PackError);
  CHECK_THROWS_WITH_AS(
      from_document_ids(Entries{1, 1, 2, 1}),
      "document_ids[3] = 1 comes back: that document ended before index 2; each document is one "
      "run",
      PackError);
  CHECK_THROWS_WITH_AS(from_document_ids(Entries{1, 1, 2}, Entries{3, 1}),
                       "document_ids of shape [3, 1]: must be [slots] or [1, slots], one row", PackError);
  CHECK_THROWS_AS(from_document_ids(Entries{1, 1, 2}, Entries{1, 1, 3}), PackError);
  CHECK_THROWS_AS(from_document_ids(Entries{1, 1, 2}, Entries{}), PackError);
  CHECK_THROWS_WITH_AS(from_document_ids(Entries{1, 1, 2}, Entries{1, 4}),
                       "document_ids of shape [1, 4] holds 3 values", PackError);
}

TEST_CASE("position ids: a document starts at every 0, also right after another (R11)") {
  CHECK(from_position_ids(Entries{0, 0}) == from_lengths(Entries{1, 1}));
  CHECK(from_position_ids(Entries{0, 1, 2, 0, 0, 1, 2, 3}) == from_lengths(Entries{3, 1, 4}));
  CHECK(from_position_ids(Entries{}) == Pack{});
}

TEST_CASE("position ids: a shard, a jump and a wrong count of real tokens are refused; padding is not read") {
  CHECK_THROWS_WITH_AS(from_position_ids(Entries{4, 5, 6, 7}),
                       "position_ids[0] = 4: must start at 0; this is one rank's shard, not the whole pack",
                       PackError);  // R10
  CHECK_THROWS_WITH_AS(from_position_ids(Entries{0, 1, 6, 7}),
                       "position_ids[2] = 6 follows 1: must restart at 0 or rise by one; this is one rank's "
                       "shard, not the whole pack, or shards in another order",
                       PackError);
  CHECK_THROWS_AS(from_position_ids(Entries{0, 1, 1}), PackError);
  CHECK_THROWS_AS(from_position_ids(Entries{0, -1}), PackError);
  CHECK(from_position_ids(Entries{0, 1, 7, -1}, 2) == from_lengths(Entries{2}, 4));
  CHECK(from_position_ids(Entries{3, 4}, 0) == Pack{{}, 2});
  CHECK_THROWS_WITH_AS(from_position_ids(Entries{0, 1}, 3),
                       "real_tokens = 3: must lie in [0, 2], the slots of position_ids", PackError);
  CHECK_THROWS_AS(from_position_ids(Entries{0, 1}, -1), PackError);
}

TEST_CASE("a validity mask is refused beside several documents and where it contradicts the pack (R17)") {
  CHECK_THROWS_WITH_AS(
      check_validity_mask(from_lengths(Entries{2, 2}), Entries{1, 1, 1, 1}),
      "a validity mask was given for a pack of 2 documents: it can't tell them apart and would "
      "merge them; leave it out, the documents say what is real",
      PackError);
  const Pack one = from_lengths(Entries{3}, 4);
  CHECK_NOTHROW(check_validity_mask(one, Entries{1, 1, 1, 0}));
  CHECK_NOTHROW(check_validity_mask(Pack{{}, 2}, Entries{0, 0}));
  CHECK_THROWS_WITH_AS(check_validity_mask(one, Entries{1, 1, 1, 1}),
                       "validity mask[3] = 1 contradicts the pack: slot 3 is padding, due is 0", PackError);
  CHECK_THROWS_WITH_AS(check_validity_mask(one, Entries{1, 0, 1, 0}),
                       "validity mask[1] = 0 contradicts the pack: slot 1 is real, due is 1", PackError);
  CHECK_THROWS_AS(check_validity_mask(one, Entries{1, 2, 1, 0}), PackError);
  CHECK_THROWS_AS(check_validity_mask(from_starts(Entries{1}, Entries{2}, 4), Entries{1, 1, 1, 0}),
                  PackError);
  CHECK_THROWS_WITH_AS(check_validity_mask(one, Entries{1, 1, 1}),
                       "the validity mask has 3 entries, the pack 4 slots", PackError);
}

}  // namespace
}  // namespace straddle::pack
