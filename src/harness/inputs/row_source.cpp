#include "harness/inputs/row_source.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace straddle::harness {
namespace {

// Rounds to the storage type first, so that an fp64 view of a 16-bit case holds the very values that the
// 16-bit run sees.
double as_stored(double value, tensor::DType storage) {
  switch (storage) {
    case tensor::DType::fp32:
      return static_cast<float>(value);
    case tensor::DType::bf16:
      return tensor::to_float(tensor::to_bf16(static_cast<float>(value)));
    case tensor::DType::fp16:
      return tensor::to_float(tensor::to_fp16(static_cast<float>(value)));
    default:
      return value;
  }
}

void store(std::span<const double> from, tensor::DType storage, const tensor::View& row) {
  std::byte* data = row.data();
  const auto each = [&](auto convert) {
    using T = decltype(convert(0.0));
    T* to = reinterpret_cast<T*>(data);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = convert(from[i]);
  };
  switch (row.dtype()) {
    case tensor::DType::fp64:
      return each([&](double x) { return as_stored(x, storage); });
    case tensor::DType::fp32:
      return each([&](double x) { return static_cast<float>(as_stored(x, storage)); });
    case tensor::DType::bf16:
      return each([](double x) { return tensor::to_bf16(static_cast<float>(x)); });
    case tensor::DType::fp16:
      return each([](double x) { return tensor::to_fp16(static_cast<float>(x)); });
    default:
      throw std::invalid_argument("inputs are floating-point tensors");
  }
}

// A uniform number in (0, 1) from 32 random bits, never 0.
double unit(std::uint32_t bits) { return (bits + 0.5) * 0x1p-32; }

}  // namespace

void normal_row(std::uint64_t seed, InputName input, std::int64_t layer, std::int64_t token,
                std::int64_t head, std::span<double> dims) {
  r123::Philox4x32 philox;
  const r123::Philox4x32::key_type key = {
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  for (std::size_t block = 0; block * 4 < dims.size(); ++block) {
    const auto place = static_cast<std::uint32_t>(input) | static_cast<std::uint32_t>(layer) << 4;
    const r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(token),
                                                 static_cast<std::uint32_t>(head),
                                                 static_cast<std::uint32_t>(block), place}};
    const auto bits = philox(counter, key);
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const double radius = std::sqrt(-2 * std::log(unit(bits[2 * pair])));
      const double angle = 2 * std::numbers::pi * unit(bits[2 * pair + 1]);
      const std::size_t i = block * 4 + pair * 2;
      if (i < dims.size()) dims[i] = radius * std::cos(angle);
      if (i + 1 < dims.size()) dims[i + 1] = radius * std::sin(angle);
    }
  }
}

RowSource::RowSource(const Case& point) : point_(point) {}

std::int64_t RowSource::document_of(std::int64_t token) const {
  const auto& documents = point_.pack.documents;
  const auto after = std::upper_bound(documents.begin(), documents.end(), token,
                                      [](std::int64_t t, const pack::Document& d) { return t < d.start; });
  if (after == documents.begin() || token >= std::prev(after)->end()) return -1;
  return std::prev(after) - documents.begin();
}

void RowSource::fill(InputName input, std::int64_t layer, std::int64_t begin,
                     const tensor::View& rows) const {
  // d_lse lives in the accumulation dtype, all else in the case's own.
  const tensor::DType storage =
      input == InputName::d_lse ? tensor::accumulation_dtype(point_.dtype) : point_.dtype;
  const bool per_head = !rows.shape().has(tensor::Axis::dim);
  const std::int64_t heads = rows.size(tensor::Axis::head);
  const std::int64_t dim = per_head ? 1 : rows.size(tensor::Axis::dim);
  std::vector<double> row(static_cast<std::size_t>(dim));
  for (std::int64_t i = 0; i < rows.size(tensor::Axis::token); ++i) {
    const std::int64_t token = begin + i;
    const std::int64_t document = document_of(token);
    const tensor::View of_token = rows.slice(tensor::Axis::token, i, 1);
    for (std::int64_t head = 0; head < heads; ++head) {
      if (document < 0 && point_.inputs.padding_rows == PaddingRows::nan) {
        std::fill(row.begin(), row.end(), std::numeric_limits<double>::quiet_NaN());
      } else if (document < 0) {
        normal_row(point_.inputs.seed, input, layer, token, head, row);
      } else {
        values(input, layer, token, document, head, row);
      }
      store(row, storage, of_token.slice(tensor::Axis::head, head, 1));
    }
  }
}

}  // namespace straddle::harness
