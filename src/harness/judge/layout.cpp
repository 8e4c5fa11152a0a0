#include "harness/judge/layout.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace straddle::harness {

tensor::Shape result_shape(const Case& point, std::string_view name, std::int64_t tokens) {
  if (name == "lse") return tensor::token_major(tokens, point.heads);
  if (name == "out") return tensor::token_major(tokens, point.heads, point.v_head_dim);
  if (name == "d_q") return tensor::token_major(tokens, point.heads, point.head_dim);
  if (name == "d_k") return tensor::token_major(tokens, point.kv_heads, point.head_dim);
  if (name == "d_v") return tensor::token_major(tokens, point.kv_heads, point.v_head_dim);
  throw std::invalid_argument(fmt::format("no result is called {}", name));
}

void require_result_shapes(const Case& point, const LayerResults& results) {
  const std::int64_t slots = point.padded().slots;
  for (const std::string_view name : kResultNames) {
    const tensor::Shape expected = result_shape(point, name, slots);
    const tensor::Shape& seen = results.by_name(name).shape();
    if (seen == expected) continue;
    throw std::invalid_argument(
        fmt::format("result {} of {}: expected {}, seen {}; gather all rows of all ranks, padding included",
                    name, print(point), expected.text(), seen.text()));
  }
}

std::int64_t documents_end(const pack::Pack& pack) {
  return pack.documents.empty() ? 0 : pack.documents.back().end();
}

RankRange ranks_of(const pack::Document& document, std::int64_t rows_per_rank) {
  return {document.start / rows_per_rank, (document.end() - 1) / rows_per_rank};
}

Place locate(std::int64_t token, std::int64_t head, std::int64_t dim, std::int64_t rows_per_rank,
             std::int64_t document_start) {
  Place place;
  place.token = token;
  place.rank = token / rows_per_rank;
  place.local_row = token % rows_per_rank;
  place.document_row = token - document_start;
  place.head = head;
  place.dim = dim;
  return place;
}

}  // namespace straddle::harness
