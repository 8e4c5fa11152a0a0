#include "harness/judge/layout.hpp"

#include <doctest/doctest.h>

#include "problem.hpp"

namespace straddle::harness {
namespace {

using test::make_case;

TEST_CASE("ranks_of: the owners of a document's first and last row") {
  for (std::int64_t rows_per_rank = 1; rows_per_rank <= 4; ++rows_per_rank) {
    for (std::int64_t start = 0; start < 9; ++start) {
      for (std::int64_t length = 1; length < 9; ++length) {
        const RankRange ranks = ranks_of({start, length}, rows_per_rank);
        std::int64_t owners = 0;
        for (std::int64_t rank = 0; rank < 20; ++rank) {
          bool owns = false;
          for (std::int64_t row = start; row < start + length; ++row) owns |= row / rows_per_rank == rank;
          owners += owns ? 1 : 0;
          REQUIRE(owns == (ranks.first <= rank && rank <= ranks.last));
        }
        REQUIRE(ranks.count() == owners);
      }
    }
  }
}

TEST_CASE("documents_end: where padding begins") {
  CHECK(documents_end(make_case({2, 3}, 4, 1).pack) == 5);
  CHECK(documents_end(make_case({}, 4, 1).pack) == 0);
}

TEST_CASE("locate: global, local and document coordinates") {
  // The picture of a failing block: d_k token 7 = rank 1 row 3 = document 1 row 5, of documents 2, 11, 3 on
  // four ranks.
  const Place place = locate(7, 1, 51, 4, 2);
  CHECK(place.rank == 1);
  CHECK(place.local_row == 3);
  CHECK(place.document_row == 5);
  CHECK(place.head == 1);
  CHECK(place.dim == 51);
}

TEST_CASE("result_shape: heads and dims of each result") {
  const Case point =
      make_case({2}, 0, 1, tensor::DType::fp32, {.heads = 6, .kv_heads = 3, .head_dim = 8, .v_head_dim = 5});
  CHECK(result_shape(point, "out", 2) == tensor::token_major(2, 6, 5));
  CHECK(result_shape(point, "lse", 2) == tensor::token_major(2, 6));
  CHECK(result_shape(point, "d_q", 2) == tensor::token_major(2, 6, 8));
  CHECK(result_shape(point, "d_k", 2) == tensor::token_major(2, 3, 8));
  CHECK(result_shape(point, "d_v", 2) == tensor::token_major(2, 3, 5));
}

}  // namespace
}  // namespace straddle::harness
