// Axes with a declared meaning: what a tensor's indices count.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace straddle::tensor {

enum class Axis : std::uint8_t { token, head, dim };

[[nodiscard]] std::string_view name(Axis axis);  // "token", "head", "dim"

struct Extent {
  Axis axis;
  std::int64_t size;
  bool operator==(const Extent&) const = default;
};

// At most kMaxAxes named extents, outermost first, e.g. {{Axis::token, 8}, {Axis::head, 4}, {Axis::dim, 64}}.
class Shape {
 public:
  static constexpr int kMaxAxes = 4;

  Shape() = default;  // no axes, no elements: the shape of a view of nothing

  // Throws std::invalid_argument: too many axes, one repeated, a negative size, more elements than an int64
  // counts.
  Shape(std::initializer_list<Extent> extents);

  [[nodiscard]] std::span<const Extent> extents() const {
    return {extents_.data(), static_cast<std::size_t>(axes_)};
  }
  [[nodiscard]] int axes() const { return axes_; }
  [[nodiscard]] int index_of(Axis axis) const;  // throws std::invalid_argument naming the axis when absent
  [[nodiscard]] bool has(Axis axis) const;
  [[nodiscard]] std::int64_t size(Axis axis) const {
    return extents_[static_cast<std::size_t>(index_of(axis))].size;
  }
  [[nodiscard]] std::int64_t numel() const;  // 0 without axes
  [[nodiscard]] std::string text() const;    // "[token 8, head 4, dim 64]"

  // The same shape with one extent replaced. Throws like the constructor and index_of.
  [[nodiscard]] Shape with(Axis axis, std::int64_t size) const;
  bool operator==(const Shape&) const = default;

 private:
  void check_sizes() const;

  std::array<Extent, kMaxAxes> extents_{};
  int axes_ = 0;
};

[[nodiscard]] Shape token_major(std::int64_t tokens, std::int64_t heads,
                                std::int64_t dim);                         // [tokens, heads, dim]
[[nodiscard]] Shape token_major(std::int64_t tokens, std::int64_t heads);  // [tokens, heads], e.g. LSE

}  // namespace straddle::tensor
