#include "reference/sgemm.hpp"

#include <Eigen/Core>
#include <stdexcept>

namespace straddle::reference {

void sgemm(std::int64_t n, std::span<const float> a, std::span<const float> b, std::span<float> c) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto elements = static_cast<std::size_t>(n * n);
  if (n < 1 || a.size() != elements || b.size() != elements || c.size() != elements) {
    throw std::invalid_argument("sgemm: a, b and c must hold n x n elements");
  }
  Eigen::Map<Matrix>(c.data(), n, n).noalias() =
      Eigen::Map<const Matrix>(a.data(), n, n) * Eigen::Map<const Matrix>(b.data(), n, n);
}

}  // namespace straddle::reference
