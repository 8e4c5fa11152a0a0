#include "harness/judge/bit_rows.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

namespace straddle::harness {

using tensor::Axis;

BitRows::BitRows(const tensor::Tensor& a, const tensor::Tensor& b, ZeroSign zero_sign)
    : a_(a),
      b_(b),
      zero_sign_(zero_sign),
      element_bytes_(tensor::size_bytes(a.dtype())),
      dim_(a.shape().has(Axis::dim) ? a.shape().size(Axis::dim) : 1),
      row_elements_(a.shape().size(Axis::head) * dim_) {
  const std::int64_t tokens = a.shape().size(Axis::token);
  if (a.dtype() == b.dtype() && a.shape() == b.shape().with(Axis::token, tokens)) return;
  throw std::invalid_argument(
      fmt::format("bits of {} {} and {} {} can't be compared: expected equal dtypes, "
                  "heads and dims",
                  tensor::name(a.dtype()), a.shape().text(), tensor::name(b.dtype()), b.shape().text()));
}

std::uint64_t BitRows::bits(const tensor::Tensor& tensor, std::int64_t token, std::int64_t element) const {
  const auto index = static_cast<std::size_t>(token * row_elements_ + element);
  std::uint64_t bits = 0;  // little-endian, as everywhere the program runs
  std::memcpy(&bits, tensor.view().data() + index * element_bytes_, element_bytes_);
  return bits;
}

bool BitRows::same(std::int64_t token, std::int64_t element) const {
  const std::uint64_t a = bits(a_, token, element);
  const std::uint64_t b = bits(b_, token, element);
  const std::uint64_t sign = std::uint64_t{1} << (8 * element_bytes_ - 1);
  return a == b || (zero_sign_ == ZeroSign::ignored && ((a | b) & ~sign) == 0);
}

bool BitRows::same_row(std::int64_t token) const {
  const std::size_t bytes = static_cast<std::size_t>(row_elements_) * element_bytes_;
  const std::size_t offset = static_cast<std::size_t>(token) * bytes;
  return bytes == 0 || std::memcmp(a_.view().data() + offset, b_.view().data() + offset, bytes) == 0;
}

std::optional<std::int64_t> BitRows::first_difference(std::int64_t token) const {
  if (same_row(token)) return std::nullopt;
  for (std::int64_t element = 0; element < row_elements_; ++element) {
    if (!same(token, element)) return element;
  }
  return std::nullopt;
}

std::int64_t BitRows::differing(std::int64_t token) const {
  if (same_row(token)) return 0;
  std::int64_t count = 0;
  for (std::int64_t element = 0; element < row_elements_; ++element) count += same(token, element) ? 0 : 1;
  return count;
}

std::string BitRows::describe(std::string_view name, std::int64_t token, std::int64_t element) const {
  const std::string dim = a_.shape().has(Axis::dim) ? fmt::format(" dim {}", element % dim_) : "";
  const std::size_t digits = 2 * element_bytes_;
  return fmt::format("{} token {} head {}{}: {:0{}x} != {:0{}x}", name, token, element / dim_, dim,
                     bits(a_, token, element), digits, bits(b_, token, element), digits);
}

}  // namespace straddle::harness
