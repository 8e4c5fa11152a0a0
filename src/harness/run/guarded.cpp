#include "harness/run/guarded.hpp"

#include <algorithm>
#include <utility>

namespace straddle::harness {
namespace {

// All bits set: a NaN in every floating-point type, and not the one that tensor::poison writes.
constexpr std::byte kGuard{0xff};

}  // namespace

Guarded::Guarded(tensor::DType dtype, const tensor::Shape& shape)
    : tokens_(shape.size(tensor::Axis::token)),
      whole_(dtype, shape.with(tensor::Axis::token, tokens_ + 2 * kGuardRows)) {
  for (const std::int64_t begin : {std::int64_t{0}, kGuardRows + tokens_}) {
    const auto guard = whole_.view().slice(tensor::Axis::token, begin, kGuardRows).bytes();
    std::fill(guard.begin(), guard.end(), kGuard);
  }
}

tensor::View Guarded::rows() { return whole_.view().slice(tensor::Axis::token, kGuardRows, tokens_); }

tensor::ConstView Guarded::rows() const {
  return std::as_const(whole_).view().slice(tensor::Axis::token, kGuardRows, tokens_);
}

bool Guarded::intact() const {
  for (const std::int64_t begin : {std::int64_t{0}, kGuardRows + tokens_}) {
    const auto guard = whole_.view().slice(tensor::Axis::token, begin, kGuardRows).bytes();
    if (std::any_of(guard.begin(), guard.end(), [](std::byte b) { return b != kGuard; })) return false;
  }
  return true;
}

}  // namespace straddle::harness
