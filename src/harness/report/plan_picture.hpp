// The text picture of a pack over its ranks, as `straddle plan` prints it.
#pragma once

#include <cstdint>
#include <string>

#include "pack/plan.hpp"
#include "tensor/dtype.hpp"

namespace straddle::harness {

struct PlanPictureOptions {
  std::int64_t heads = 1;  // query heads: they cost work, not bytes
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 64;
  std::int64_t v_head_dim = 64;
  tensor::DType dtype = tensor::DType::fp32;
  std::int64_t width = 100;  // columns, at least 80
};

// Who owns what, who fetches what from whom, what the kernel is called with, how much work each rank has. The
// row is padded up to a multiple of `ranks` first. Plain ASCII, lines of at most `width` columns; long lists
// and many ranks fold (8 entries, then how many more). O(documents + ranks). Throws pack::PackError for a
// pack that has no plan.
[[nodiscard]] std::string plan_picture(const pack::Pack& pack, int ranks, pack::ExchangeKind asked,
                                       const PlanPictureOptions& options);

}  // namespace straddle::harness
