// Where a row of the global results lies: its rank, its row there, its document.
#pragma once

#include <cstdint>

#include "harness/judge/judge.hpp"
#include "tensor/shape.hpp"

namespace straddle::harness {

// [tokens, heads or kv_heads, dim] of one result of a case; lse [tokens, heads].
[[nodiscard]] tensor::Shape result_shape(const Case& point, std::string_view name, std::int64_t tokens);

// Throws std::invalid_argument naming tensor, expected and seen shape, unless every result has the padded
// slots of the case and its heads and dims.
void require_result_shapes(const Case& point, const LayerResults& results);

// End of the last document: rows from here on are padding. 0 without documents.
[[nodiscard]] std::int64_t documents_end(const pack::Pack& pack);

// [first, last] rank that owns rows of a document.
struct RankRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  [[nodiscard]] std::int64_t count() const { return last - first + 1; }
};
[[nodiscard]] RankRange ranks_of(const pack::Document& document, std::int64_t rows_per_rank);

// got and want are left to the caller. document_start: of the token's document, or the token itself where it
// has none.
[[nodiscard]] Place locate(std::int64_t token, std::int64_t head, std::int64_t dim,
                           std::int64_t rows_per_rank, std::int64_t document_start);

}  // namespace straddle::harness
