#include "pack/geometry.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "pack/describe.hpp"

namespace straddle::pack {
namespace {

using Entries = std::vector<std::int64_t>;

TEST_CASE("straddles and real rows of the worked examples") {
  CHECK(straddles(from_lengths(Entries{6, 6, 4}), 4) == Entries{0, 4, 2, 0});
  CHECK(straddles(from_lengths(Entries{16}), 4) == Entries{0, 4, 8, 12});
  CHECK(straddles(from_lengths(Entries{2, 11, 3}), 4) == Entries{0, 2, 6, 10});
  CHECK(straddles(from_lengths(Entries{4, 6, 6}), 4) == Entries{0, 0, 4, 2});
  CHECK(real_rows(from_lengths(Entries{5}, 8), 2) == Entries{4, 1});
  CHECK(real_rows(from_lengths(Entries{1, 7, 3}, 16), 4) == Entries{4, 4, 3, 0});
  // A cut on padding between documents, and one inside a document that starts after a gap.
  const Pack gapped = from_starts(Entries{1, 5, 11}, Entries{2, 4, 5}, 16);
  CHECK(straddles(gapped, 4) == Entries{0, 0, 3, 1});
  CHECK(real_rows(gapped, 4) == Entries{2, 3, 2, 4});
}

TEST_CASE("a row that the ranks can't share evenly is refused (R06)") {
  const Pack seven = from_lengths(Entries{4, 3});
  const char* uneven =
      "slots = 7 is not a multiple of ranks = 2: the last 1 rows would belong to nobody; pad the row to a "
      "multiple first";
  CHECK_THROWS_WITH_AS(rows_per_rank(seven, 2), uneven, PackError);
  CHECK_THROWS_WITH_AS(straddles(seven, 2), uneven, PackError);
  CHECK_THROWS_WITH_AS(real_rows(seven, 2), uneven, PackError);
  CHECK_THROWS_WITH_AS(PackGeometry(seven, 2), uneven, PackError);
  CHECK_THROWS_WITH_AS(rows_per_rank(seven, 0), "ranks = 0: must lie in [1, 2147483647]", PackError);
  CHECK_THROWS_AS(rows_per_rank(seven, std::int64_t{1} << 31), PackError);
  CHECK_THROWS_WITH_AS(rows_per_rank(Pack{}, 2), "slots = 0: a pack needs at least one slot", PackError);
  CHECK(rows_per_rank(seven.padded_to_multiple_of(2), 2) == 4);
}

TEST_CASE("an invalid pack is refused before anything is computed from it") {
  const Pack invalid{{{0, 9}}, 8};
  CHECK_THROWS_AS(straddles(invalid, 2), PackError);
  CHECK_THROWS_AS(real_rows(invalid, 2), PackError);
  CHECK_THROWS_AS(PackGeometry(invalid, 2), PackError);
}

TEST_CASE("a kernel's int32 holds the end of every rank's cu_seqlens_k, or all ranks refuse the pack") {
  const std::int64_t limit = std::numeric_limits<std::int32_t>::max();  // 2^31 - 1 keys on the last rank
  const Pack fits = from_lengths(Entries{limit}, limit + 1);
  CHECK(PackGeometry(fits, 2).max_straddle() == (limit + 1) / 2);
  const Pack one_more = from_lengths(Entries{limit + 1});
  CHECK_THROWS_WITH_AS(
      PackGeometry(one_more, 2),
      "rank 1: its cu_seqlens_k would end at b + n = 1073741824 + 1073741824 = 2147483648, but a "
      "kernel takes int32, at most 2147483647; use more ranks or shorter documents",
      PackError);
  // Far more tokens than int32, but no rank sees as many.
  const Pack many = from_lengths(Entries(8, std::int64_t{1} << 30));
  CHECK(PackGeometry(many, 8).max_straddle() == 0);
  const Pack huge = from_lengths(Entries{std::int64_t{1} << 62});
  CHECK_THROWS_AS(PackGeometry(huge, 4), PackError);
  CHECK(straddles(huge, 4) ==
        Entries{0, std::int64_t{1} << 60, std::int64_t{1} << 61, std::int64_t{3} << 60});
}

TEST_CASE("the hash differs between packs, rows and rank counts") {
  std::set<std::uint64_t> hashes;
  int geometries = 0;
  for (unsigned cuts = 0; cuts < 1u << 11; ++cuts) {  // every composition of 12 tokens
    Entries cu{0};
    for (std::int64_t row = 1; row <= 12; ++row) {
      if (row == 12 || (cuts >> (row - 1) & 1)) cu.push_back(row);
    }
    for (const std::int64_t slots : {12, 24}) {
      for (const std::int64_t ranks : {1, 2, 3, 4, 6, 12}) {
        const Pack pack = from_cu_seqlens(cu, slots);
        hashes.insert(PackGeometry(pack, ranks).hash());
        CHECK(PackGeometry(pack, ranks).hash() == PackGeometry(pack, ranks).hash());
        ++geometries;
      }
    }
  }
  for (std::int64_t start = 0; start <= 11; ++start) {  // one document, moved along the row and shortened
    for (std::int64_t length = 1; start + length <= 12; ++length) {
      if (start == 0 && length == 12) continue;  // among those above
      const Pack pack = from_starts(Entries{start}, Entries{length}, 12);
      hashes.insert(PackGeometry(pack, 1).hash());
      ++geometries;
    }
  }
  CHECK(static_cast<int>(hashes.size()) == geometries);
}

TEST_CASE("documents_of finds the documents with rows in a shard") {
  const Pack pack = from_starts(Entries{1, 5, 11}, Entries{2, 4, 3}, 20);
  const PackGeometry geometry(pack, 5);
  using Range = std::pair<std::int64_t, std::int64_t>;
  CHECK(geometry.documents_of(0) == Range{0, 1});
  CHECK(geometry.documents_of(1) == Range{1, 2});
  CHECK(geometry.documents_of(2) == Range{1, 3});
  CHECK(geometry.documents_of(3) == Range{2, 3});
  CHECK(geometry.documents_of(4) == Range{3, 3});
}

}  // namespace
}  // namespace straddle::pack
