// What rounding may do to a result (docs/math.md, "How a case is judged").
#pragma once

#include <cstdint>
#include <string_view>

#include "tensor/dtype.hpp"

namespace straddle::harness {

// u: unit roundoff of the arithmetic; storage: of 16-bit storage, else 0; eta: the smallest step of a result.
struct Rounding {
  double u = 0;
  double storage = 0;
  double eta = 0;
};

// fp64: 2^-52, 0, 2^-1022 (u doubled: the oracle rounds too).  fp32: 2^-24, 0, 2^-126.  bf16: 2^-24, 2^-8,
// 2^-126.  fp16: 2^-24, 2^-11, 2^-25. Throws std::invalid_argument on an integer dtype.
[[nodiscard]] Rounding rounding_of(tensor::DType dtype);

// f = 1 + A / 8: how much a logit as large as A widens the rounding of its exponential.
[[nodiscard]] constexpr double growth(double largest_logit) { return 1 + largest_logit / 8; }

// The bounds of one tensor of one document; each is the sum of its terms.
//   element   |err| <= sigma_element sigma + eta (4 tau + 1) where sigma > 0, exactly 0 elsewhere
//   row       ||err_i|| <= want_row (||want_i|| + rms row norm) + sigma_row ||sigma_i|| + eta terms
//   document  ||err||_F <= want_document ||want||_F + averaging(rows) sigma_document ||sigma||_F + eta terms
// eta terms of a norm: eta (4 ||tau|| + ||[sigma > 0]||).
struct ErrorBounds {
  double sigma_element = 0;
  double want_row = 0, sigma_row = 0;
  double want_document = 0, sigma_document = 0;
  double eta = 0;
  double reference_noise = 0;  // ||want|| up to this times ||sigma|| is what double arithmetic leaves of a 0
};

// tensor: out, d_q, d_k or d_v.
[[nodiscard]] ErrorBounds error_bounds(std::string_view tensor, const Rounding& rounding,
                                       double largest_logit);

// Roundings to 16-bit storage that meet in one element: of P and of the result (out, d_v); of dS too, or of
// out inside Delta (d_q, d_k).
[[nodiscard]] int storage_roundings(std::string_view tensor);

// What one element may differ by. sigma = 0 allows nothing.
[[nodiscard]] inline double element_bound(const ErrorBounds& bounds, double sigma, double tau) {
  return sigma > 0 ? bounds.sigma_element * sigma + bounds.eta * (4 * tau + 1) : 0;
}

// How far the errors of so many rows average out in a document's norm: 1 + 3 / sqrt(rows). A document of one
// row is allowed what a row is allowed (4 sigma_document = sigma_row): its one error is no mean of anything.
[[nodiscard]] double averaging(std::size_t rows);

// |err| of LSE, absolute: it is a logarithm, so this is the relative error of the softmax's sum.
[[nodiscard]] double lse_bound(const Rounding& rounding, double largest_logit);

// used / allowed; 0 / 0 is 0 (nothing was allowed, nothing used), and NaN is infinity: never fine.
[[nodiscard]] double used_of_allowed(double used, double allowed);

}  // namespace straddle::harness
