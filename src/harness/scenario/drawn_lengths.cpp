#include "harness/scenario/drawn_lengths.hpp"

#include <algorithm>

#include "harness/scenario/draw.hpp"

namespace straddle::harness {

std::vector<std::int64_t> draw_lengths(const RandomLengths& wanted) {
  Draw draw(wanted.seed);
  std::vector<std::int64_t> lengths;
  for (std::int64_t left = wanted.slots; left > 0;) {
    const double kind = draw.share();
    std::int64_t length = 0;
    if (kind >= wanted.zero) {
      length = kind < wanted.zero + wanted.one ? 1 : draw.log_between(1, wanted.max_document);
    }
    lengths.push_back(std::min(length, left));
    left -= lengths.back();
  }
  return lengths;
}

std::vector<std::int64_t> draw_from(const std::vector<std::int64_t>& lengths, std::int64_t slots,
                                    std::int64_t max_document, std::uint64_t seed) {
  std::vector<std::int64_t> order;
  std::copy_if(lengths.begin(), lengths.end(), std::back_inserter(order),
               [&](std::int64_t length) { return length >= 1 && length <= max_document; });
  Draw draw(seed);
  for (std::size_t i = order.size(); i > 1; --i) {  // Fisher-Yates
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(i) - 1))]);
  }
  std::vector<std::int64_t> result;
  std::int64_t left = slots;
  for (std::size_t i = 0; left > 0; i = (i + 1) % order.size()) {
    result.push_back(std::min(order[i], left));
    left -= result.back();
  }
  return result;
}

}  // namespace straddle::harness
