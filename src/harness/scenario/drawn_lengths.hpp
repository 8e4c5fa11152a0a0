// Document lengths that nobody wrote down: drawn at random, or from a list of real ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace straddle::harness {

struct RandomLengths {
  std::int64_t slots = 0;         // to fill with documents, the last one cut
  std::int64_t max_document = 1;  // tokens
  double zero = 0;                // share of documents of length 0, which take no slot
  double one = 0;                 // share of 1-token documents; the others are log-uniform
  std::uint64_t seed = 7;
};

// Lengths in order; zero and one must be at most 0.9 together so that the row fills.
[[nodiscard]] std::vector<std::int64_t> draw_lengths(const RandomLengths& wanted);

// A file's lengths in an order drawn by `seed`, those over max_document left out, until `slots` are full, the
// last one cut; again from the first when the file is used up. lengths must hold one of 1 to max_document.
[[nodiscard]] std::vector<std::int64_t> draw_from(const std::vector<std::int64_t>& lengths,
                                                  std::int64_t slots, std::int64_t max_document,
                                                  std::uint64_t seed);

}  // namespace straddle::harness
