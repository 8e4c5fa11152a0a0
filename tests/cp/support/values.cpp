#include "support/values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace straddle::cp::testing {

std::vector<double> values_of(const tensor::ConstView& view) {
  tensor::Tensor wide(tensor::DType::fp64, view.shape());
  tensor::convert(view, wide.view());
  const auto values = wide.view().span<double>();
  return {values.begin(), values.end()};
}

void assign(const std::vector<double>& values, const tensor::View& view) {
  const auto* data = reinterpret_cast<const std::byte*>(values.data());
  tensor::convert(tensor::ConstView(data, tensor::DType::fp64, view.shape()), view);
}

tensor::Tensor copy_of(const tensor::ConstView& view) {
  tensor::Tensor copy(view.dtype(), view.shape());
  tensor::convert(view, copy.view());
  return copy;
}

bool same_bits(const tensor::ConstView& a, const tensor::ConstView& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && std::ranges::equal(a.bytes(), b.bytes());
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double difference = std::abs(a[i] - b[i]);
    largest =
        std::max(largest, std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference);
  }
  return largest;
}

}  // namespace straddle::cp::testing
