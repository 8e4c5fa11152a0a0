// Eigen's own matrix product: the rate that `straddle bench` measures kernels against.
#pragma once

#include <cstdint>
#include <span>

namespace straddle::reference {

// c = a b, all [n, n] row-major, fp32, on one thread. Throws std::invalid_argument for other sizes.
void sgemm(std::int64_t n, std::span<const float> a, std::span<const float> b, std::span<float> c);

}  // namespace straddle::reference
