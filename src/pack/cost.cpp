#include "pack/cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pack/checked.hpp"

namespace straddle::pack {
namespace {

std::int64_t moved_rows(ExchangeKind kind, const Pack& pack, const std::vector<std::int64_t>& straddles) {
  const auto others = static_cast<std::int64_t>(straddles.size()) - 1;
  switch (kind) {
    case ExchangeKind::allgather:
      return checked_multiply(others, pack.slots, "rows an allgather moves, (W - 1) S");
    case ExchangeKind::halo:
      return checked_multiply(others, *std::max_element(straddles.begin(), straddles.end()),
                              "rows a halo moves, (W - 1) max b");
    case ExchangeKind::a2a: {
      std::int64_t rows = 0;
      for (const std::int64_t straddle : straddles)
        rows = checked_add(rows, straddle, "rows an a2a moves, sum of b");
      return rows;
    }
  }
  throw PackError(fmt::format("exchange {} is not one of allgather, halo, a2a", static_cast<int>(kind)));
}

void check_sizes(std::int64_t value, std::string_view what) {
  if (value < 0) throw PackError(fmt::format("{} = {}: must not be negative", what, value));
}

}  // namespace

std::int64_t moved_rows(ExchangeKind kind, const Pack& pack, std::int64_t ranks) {
  return moved_rows(kind, pack, straddles(pack, ranks));
}

std::int64_t moved_rows(ExchangeKind kind, const PackGeometry& geometry) {
  return moved_rows(kind, geometry.pack(), geometry.straddles());
}

std::int64_t kv_elements_per_token(std::int64_t kv_heads, std::int64_t head_dim, std::int64_t v_head_dim) {
  check_sizes(kv_heads, "kv_heads");
  check_sizes(head_dim, "head_dim");
  check_sizes(v_head_dim, "v_head_dim");
  const std::string_view what = "elements of K and V a token, Hkv (D + Dv)";
  return checked_multiply(kv_heads, checked_add(head_dim, v_head_dim, what), what);
}

std::int64_t kv_bytes(std::int64_t rows, std::int64_t elements_per_token, std::int64_t element_bytes) {
  return checked_multiply(rows,
                          checked_multiply(elements_per_token, element_bytes, "bytes of K and V a token"),
                          "bytes of K and V");
}

std::int64_t held_rows(ExchangeKind kind, const Plan& plan) {
  switch (kind) {
    case ExchangeKind::allgather:
      return checked_multiply(plan.ranks, plan.rows_per_rank, "rows held, S = W L");
    case ExchangeKind::halo:
      return plan.rows_per_rank + plan.max_straddle;
    case ExchangeKind::a2a:
      return plan.rows_per_rank + plan.straddle;
  }
  throw PackError(fmt::format("exchange {} is not one of allgather, halo, a2a", static_cast<int>(kind)));
}

std::vector<std::int64_t> pairs_per_rank(const Pack& pack, std::int64_t ranks) {
  pack.validate();
  const std::int64_t rows = rows_per_rank(pack, ranks);
  const std::string_view what = "visible pairs of a rank";
  std::vector<std::int64_t> pairs(ranks, 0);
  for (const Document& document : pack.documents) {
    for (std::int64_t rank = document.start / rows; rank <= (document.end() - 1) / rows; ++rank) {
      // A run of q rows with p of its document before it: row i of the run sees p + i + 1 keys.
      const std::int64_t begin = std::max(document.start, rank * rows);
      const std::int64_t queries = std::min(document.end(), (rank + 1) * rows) - begin;
      const std::int64_t before = checked_multiply(queries, begin - document.start, what);
      pairs[rank] =
          checked_add(pairs[rank], checked_add(before, checked_triangle(queries, what), what), what);
    }
  }
  return pairs;
}

}  // namespace straddle::pack
