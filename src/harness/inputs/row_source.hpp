// What random and file inputs share: rows made one at a time as doubles, stored in the case's dtype, padding
// rows apart.
#pragma once

#include <cstdint>
#include <span>

#include "harness/inputs/inputs.hpp"

namespace straddle::harness {

class RowSource : public Inputs {
 public:
  explicit RowSource(const Case& point);
  void fill(InputName input, std::int64_t layer, std::int64_t begin, const tensor::View& rows) const final;

 protected:
  // Values of one head of one token that belongs to `document` (index), or to none (-1); before rounding to
  // storage.
  virtual void values(InputName input, std::int64_t layer, std::int64_t token, std::int64_t document,
                      std::int64_t head, std::span<double> dims) const = 0;

  Case point_;

 private:
  [[nodiscard]] std::int64_t document_of(std::int64_t token) const;
};

// Standard normal numbers for (seed, tensor, layer, token, head, dims 0..): Philox4x32-10 (Salmon et al.
// 2011) and Box-Muller.
void normal_row(std::uint64_t seed, InputName input, std::int64_t layer, std::int64_t token,
                std::int64_t head, std::span<double> dims);

}  // namespace straddle::harness
