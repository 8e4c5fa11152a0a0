// Elements of views as plain lists of double, and comparisons of them.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.hpp"
#include "tensor/view.hpp"

namespace straddle::cp::testing {

[[nodiscard]] std::vector<double> values_of(const tensor::ConstView& view);  // exact
void assign(const std::vector<double>& values, const tensor::View& view);    // rounds once
[[nodiscard]] tensor::Tensor copy_of(const tensor::ConstView& view);

// Same bytes, NaN and sign of zero included. Both contiguous, one shape.
[[nodiscard]] bool same_bits(const tensor::ConstView& a, const tensor::ConstView& b);

// Largest |a - b|; infinity where a NaN or an infinity stands on one side only.
[[nodiscard]] double largest_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace straddle::cp::testing
