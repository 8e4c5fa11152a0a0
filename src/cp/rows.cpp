#include "cp/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace straddle::cp {
namespace {

using tensor::Axis;
using tensor::DType;

std::size_t bytes_per_token(const tensor::ConstView& view) {
  const std::int64_t elements = view.size(Axis::head) * view.size(Axis::dim);
  return to_size(elements) * tensor::size_bytes(view.dtype());
}

// The bytes of rows [begin, begin + count).
template <class Byte>
std::span<Byte> token_bytes(const tensor::BasicView<Byte>& view, std::int64_t begin, std::int64_t count) {
  const std::size_t bytes = bytes_per_token(view);
  return view.bytes().subspan(to_size(begin) * bytes, to_size(count) * bytes);
}

void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  std::copy(from.begin(), from.end(), to.begin());
}

void check_packed_size(std::size_t packed_bytes, std::int64_t count, const ConstRows& rows) {
  const std::size_t expected = to_size(count) * row_bytes(rows);
  if (packed_bytes == expected) return;
  throw std::invalid_argument(fmt::format("{} packed rows of K and V are {} bytes, expected {} ({} a row)",
                                          count, packed_bytes, expected, row_bytes(rows)));
}

template <class T>
void add_elements(std::span<const std::byte> from, std::span<std::byte> to) {
  for (std::size_t at = 0; at < to.size(); at += sizeof(T)) {
    T term, sum;
    std::memcpy(&term, from.data() + at, sizeof(T));
    std::memcpy(&sum, to.data() + at, sizeof(T));
    sum += term;
    std::memcpy(to.data() + at, &sum, sizeof(T));
  }
}

void add_bytes(DType dtype, std::span<const std::byte> from, std::span<std::byte> to) {
  switch (dtype) {
    case DType::fp64:
      return add_elements<double>(from, to);
    case DType::fp32:
      return add_elements<float>(from, to);
    default:
      throw std::invalid_argument(
          fmt::format("partial sums are {}, expected fp32 or fp64", tensor::name(dtype)));
  }
}

}  // namespace

std::size_t row_bytes(const ConstRows& rows) { return bytes_per_token(rows.k) + bytes_per_token(rows.v); }

void pack_rows(const ConstRows& from, std::int64_t begin, std::int64_t count, std::span<std::byte> packed) {
  check_packed_size(packed.size(), count, from);
  const std::size_t k_bytes = bytes_per_token(from.k);
  for (std::int64_t row = 0; row < count; ++row) {
    const auto to = packed.subspan(to_size(row) * row_bytes(from), row_bytes(from));
    copy_bytes(token_bytes(from.k, begin + row, 1), to.first(k_bytes));
    copy_bytes(token_bytes(from.v, begin + row, 1), to.subspan(k_bytes));
  }
}

void unpack_rows(std::span<const std::byte> packed, const Rows& to, std::int64_t begin, std::int64_t count) {
  const ConstRows shape{to.k, to.v};
  check_packed_size(packed.size(), count, shape);
  const std::size_t k_bytes = bytes_per_token(to.k);
  for (std::int64_t row = 0; row < count; ++row) {
    const auto from = packed.subspan(to_size(row) * row_bytes(shape), row_bytes(shape));
    copy_bytes(from.first(k_bytes), token_bytes(to.k, begin + row, 1));
    copy_bytes(from.subspan(k_bytes), token_bytes(to.v, begin + row, 1));
  }
}

void add_packed_rows(std::span<const std::byte> packed, const Rows& to, std::int64_t begin,
                     std::int64_t count) {
  const ConstRows shape{to.k, to.v};
  check_packed_size(packed.size(), count, shape);
  const std::size_t k_bytes = bytes_per_token(to.k);
  for (std::int64_t row = 0; row < count; ++row) {
    const auto from = packed.subspan(to_size(row) * row_bytes(shape), row_bytes(shape));
    add_bytes(to.k.dtype(), from.first(k_bytes), token_bytes(to.k, begin + row, 1));
    add_bytes(to.v.dtype(), from.subspan(k_bytes), token_bytes(to.v, begin + row, 1));
  }
}

void add_rows(const ConstRows& from, std::int64_t from_begin, const Rows& to, std::int64_t to_begin,
              std::int64_t count) {
  add_bytes(to.k.dtype(), token_bytes(from.k, from_begin, count), token_bytes(to.k, to_begin, count));
  add_bytes(to.v.dtype(), token_bytes(from.v, from_begin, count), token_bytes(to.v, to_begin, count));
}

void copy_rows(const ConstRows& from, std::int64_t from_begin, const Rows& to, std::int64_t to_begin,
               std::int64_t count) {
  copy_bytes(token_bytes(from.k, from_begin, count), token_bytes(to.k, to_begin, count));
  copy_bytes(token_bytes(from.v, from_begin, count), token_bytes(to.v, to_begin, count));
}

void zero_rows(const Rows& rows) {
  for (const tensor::View& view : {rows.k, rows.v}) {
    const auto bytes = view.bytes();
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
}

}  // namespace straddle::cp
