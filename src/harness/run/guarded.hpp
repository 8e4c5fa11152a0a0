// A result buffer between guard rows: NaN inside, so that an unwritten row is seen, and a pattern around it,
// so that a write out of range is seen.
#pragma once

#include <cstdint>

#include "tensor/tensor.hpp"

namespace straddle::harness {

class Guarded {
 public:
  Guarded() = default;
  Guarded(tensor::DType dtype,
          const tensor::Shape& shape);  // shape of the rows themselves, with a token axis

  [[nodiscard]] tensor::View rows();
  [[nodiscard]] tensor::ConstView rows() const;
  [[nodiscard]] bool intact() const;  // no guard byte changed

 private:
  static constexpr std::int64_t kGuardRows = 2;  // on each side

  std::int64_t tokens_ = 0;
  tensor::Tensor whole_;
};

}  // namespace straddle::harness
