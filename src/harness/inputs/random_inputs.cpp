#include "harness/inputs/random_inputs.hpp"

#include <algorithm>

namespace straddle::harness {

void RandomInputs::values(InputName input, std::int64_t layer, std::int64_t token, std::int64_t document,
                          std::int64_t head, std::span<double> dims) const {
  const InputSpec& spec = point_.inputs;
  if (input == InputName::k)
    return keys(layer, token, point_.pack.documents[static_cast<std::size_t>(document)], head, dims);
  if (input == InputName::v && spec.kind == InputKind::v_one) return std::fill(dims.begin(), dims.end(), 1.0);
  if (input == InputName::q && spec.kind == InputKind::ramp) return std::fill(dims.begin(), dims.end(), 1.0);
  normal_row(spec.seed, input, layer, token, head, dims);
  if (input == InputName::q) {
    for (double& x : dims) x *= spec.amplitude;
  }
}

void RandomInputs::keys(std::int64_t layer, std::int64_t token, const pack::Document& document,
                        std::int64_t head, std::span<double> dims) const {
  const InputSpec& spec = point_.inputs;
  if (spec.kind == InputKind::k_zero) return std::fill(dims.begin(), dims.end(), 0.0);
  if (spec.kind == InputKind::ramp) {
    // With q = 1 the logit of key t is scale * D * k; k is chosen so that it runs from -amplitude to
    // amplitude.
    const double steps = static_cast<double>(std::max<std::int64_t>(document.length - 1, 1));
    const double logit = spec.amplitude * (2 * static_cast<double>(token - document.start) / steps - 1);
    const double key = logit / (point_.scale() * static_cast<double>(point_.head_dim));
    return std::fill(dims.begin(), dims.end(), key);
  }
  const std::int64_t of_token = spec.kind == InputKind::same_keys ? document.start : token;
  normal_row(spec.seed, InputName::k, layer, of_token, head, dims);
  for (double& x : dims) x *= spec.amplitude;
}

}  // namespace straddle::harness
