#include "harness/judge/bounds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace straddle::harness {

using tensor::DType;

Rounding rounding_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return {2 * 0x1p-53, 0, 0x1p-1022};  // the oracle rounds like the kernel: two such errors meet
    case DType::fp32:
      return {0x1p-24, 0, 0x1p-126};
    case DType::bf16:
      return {0x1p-24, 0x1p-8, 0x1p-126};
    case DType::fp16:
      return {0x1p-24, 0x1p-11, 0x1p-25};
    case DType::i64:
    case DType::i32:
      break;
  }
  throw std::invalid_argument(
      fmt::format("results are judged in fp64, fp32, bf16 or fp16, not {}", tensor::name(dtype)));
}

int storage_roundings(std::string_view tensor) { return tensor == "d_q" || tensor == "d_k" ? 3 : 2; }

ErrorBounds error_bounds(std::string_view tensor, const Rounding& rounding, double largest_logit) {
  const double uf = rounding.u * growth(largest_logit);
  ErrorBounds bounds;
  bounds.sigma_element = 128 * uf + storage_roundings(tensor) * rounding.storage;
  bounds.want_row = (tensor == "d_q" ? 128 : 64) * uf;
  bounds.sigma_row = 4 * uf + 2 * rounding.storage;
  bounds.want_document = 32 * uf + rounding.storage;
  bounds.sigma_document = uf + rounding.storage / 2;
  bounds.eta = rounding.eta;
  bounds.reference_noise = 64 * 0x1p-53 * growth(largest_logit);
  return bounds;
}

double averaging(std::size_t rows) { return 1 + 3 / std::sqrt(static_cast<double>(rows)); }

double lse_bound(const Rounding& rounding, double largest_logit) {
  return 128 * rounding.u * growth(largest_logit);
}

double used_of_allowed(double used, double allowed) {
  if (used == 0 && allowed >= 0) return 0;
  const double ratio = used / allowed;
  return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

}  // namespace straddle::harness
