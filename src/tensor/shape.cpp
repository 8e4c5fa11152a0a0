#include "tensor/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace straddle::tensor {

std::string_view name(Axis axis) {
  constexpr std::array<std::string_view, 3> kNames = {"token", "head", "dim"};
  return kNames.at(static_cast<std::size_t>(axis));
}

Shape::Shape(std::initializer_list<Extent> extents) {
  if (extents.size() > kMaxAxes) {
    throw std::invalid_argument(
        fmt::format("a shape has at most {} axes, {} were given", kMaxAxes, extents.size()));
  }
  for (const Extent& extent : extents) {
    if (has(extent.axis)) {
      throw std::invalid_argument(fmt::format("axis {} comes twice in a shape", name(extent.axis)));
    }
    extents_[static_cast<std::size_t>(axes_++)] = extent;
  }
  check_sizes();
}

void Shape::check_sizes() const {
  for (const Extent& extent : extents()) {
    if (extent.size < 0) {
      throw std::invalid_argument(
          fmt::format("axis {} must have a size of 0 or more, got {}", name(extent.axis), extent.size));
    }
  }
  std::int64_t elements = 1;
  for (const Extent& extent : extents()) {
    if (__builtin_mul_overflow(elements, std::max<std::int64_t>(extent.size, 1), &elements)) {
      throw std::invalid_argument(fmt::format("{} has more elements than an int64 counts", text()));
    }
  }
}

int Shape::index_of(Axis axis) const {
  for (int i = 0; i < axes_; ++i) {
    if (extents_[static_cast<std::size_t>(i)].axis == axis) return i;
  }
  throw std::invalid_argument(fmt::format("there is no axis {} in {}", name(axis), text()));
}

bool Shape::has(Axis axis) const {
  return std::ranges::any_of(extents(), [&](const Extent& extent) { return extent.axis == axis; });
}

std::int64_t Shape::numel() const {
  std::int64_t elements = axes_ == 0 ? 0 : 1;
  for (const Extent& extent : extents()) elements *= extent.size;
  return elements;
}

std::string Shape::text() const {
  std::vector<std::string> texts;
  for (const Extent& extent : extents())
    texts.push_back(fmt::format("{} {}", name(extent.axis), extent.size));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

Shape Shape::with(Axis axis, std::int64_t size) const {
  Shape changed = *this;
  changed.extents_[static_cast<std::size_t>(index_of(axis))].size = size;
  changed.check_sizes();
  return changed;
}

Shape token_major(std::int64_t tokens, std::int64_t heads, std::int64_t dim) {
  return {{Axis::token, tokens}, {Axis::head, heads}, {Axis::dim, dim}};
}

Shape token_major(std::int64_t tokens, std::int64_t heads) {
  return {{Axis::token, tokens}, {Axis::head, heads}};
}

}  // namespace straddle::tensor
