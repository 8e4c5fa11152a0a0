#include "pack/cost.hpp"

#include <doctest/doctest.h>

#include "pack/describe.hpp"

namespace straddle::pack {
namespace {

using Entries = std::vector<std::int64_t>;

constexpr std::int64_t kTwoTo62 = std::int64_t{1} << 62;

TEST_CASE("moved rows, held rows and pairs of documents 2, 11, 3 over four ranks, as docs show them") {
  const Pack pack = from_lengths(Entries{2, 11, 3});
  CHECK(moved_rows(ExchangeKind::allgather, pack, 4) == 48);
  CHECK(moved_rows(ExchangeKind::halo, pack, 4) == 30);
  CHECK(moved_rows(ExchangeKind::a2a, pack, 4) == 18);
  CHECK(pairs_per_rank(pack, 4) == Entries{6, 18, 34, 17});
  CHECK(held_rows(ExchangeKind::allgather, make_plan(pack, 4, 2)) == 16);
  CHECK(held_rows(ExchangeKind::halo, make_plan(pack, 4, 2)) == 14);
  CHECK(held_rows(ExchangeKind::a2a, make_plan(pack, 4, 2)) == 10);
  CHECK(moved_rows(ExchangeKind::a2a, PackGeometry(pack, 4)) == 18);
}

TEST_CASE("one rank moves nothing") {
  const Pack pack = from_lengths(Entries{5, 3});
  for (const ExchangeKind kind : {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a}) {
    CHECK(moved_rows(kind, pack, 1) == 0);
  }
}

TEST_CASE("bytes of a token's K and V: Hkv (D + Dv) elements") {
  CHECK(kv_elements_per_token(2, 64, 64) == 256);
  CHECK(kv_elements_per_token(2, 8, 4) == 24);
  CHECK(kv_bytes(18, 256, 4) == 18 * 1024);
  CHECK_THROWS_WITH_AS(kv_elements_per_token(2, -64, 64), "head_dim = -64: must not be negative", PackError);
}

TEST_CASE("products that 64 bits don't hold are refused, not wrapped") {
  CHECK_THROWS_AS(kv_elements_per_token(2, kTwoTo62, kTwoTo62), PackError);
  CHECK_THROWS_AS(kv_elements_per_token(4, kTwoTo62, 0), PackError);
  CHECK_THROWS_AS(kv_bytes(kTwoTo62, 1, 2), PackError);
  CHECK_THROWS_AS(kv_bytes(1, kTwoTo62, 2), PackError);
  CHECK(kv_bytes(410923, 9728, 4) == 15989835776);  // R40: beyond 32 bits, not beyond 64
  const Pack huge = from_lengths(Entries{kTwoTo62});
  CHECK_THROWS_AS(moved_rows(ExchangeKind::allgather, huge, 4), PackError);
  CHECK(moved_rows(ExchangeKind::allgather, huge, 2) == kTwoTo62);
  CHECK(moved_rows(ExchangeKind::a2a, huge, 2) == kTwoTo62 / 2);
  CHECK_THROWS_AS(moved_rows(ExchangeKind::a2a, huge, 8), PackError);   // 28 * 2^59
  CHECK_THROWS_AS(moved_rows(ExchangeKind::halo, huge, 8), PackError);  // 49 * 2^59
  CHECK_THROWS_AS(pairs_per_rank(huge, 2), PackError);
}

}  // namespace
}  // namespace straddle::pack
