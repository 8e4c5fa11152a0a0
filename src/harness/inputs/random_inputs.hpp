// Inputs made by rule: random, or with a property whose answer is known (InputKind).
#pragma once

#include "harness/inputs/row_source.hpp"

namespace straddle::harness {

class RandomInputs final : public RowSource {
 public:
  using RowSource::RowSource;

 protected:
  void values(InputName input, std::int64_t layer, std::int64_t token, std::int64_t document,
              std::int64_t head, std::span<double> dims) const override;

 private:
  void keys(std::int64_t layer, std::int64_t token, const pack::Document& document, std::int64_t head,
            std::span<double> dims) const;
};

}  // namespace straddle::harness
