#include "tensor/view.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <type_traits>
#include <vector>

namespace straddle::tensor {
namespace {

struct Numbers {
  Numbers() { std::iota(values.begin(), values.end(), 0.0F); }
  std::byte* data() { return reinterpret_cast<std::byte*>(values.data()); }
  std::vector<float> values = std::vector<float>(24);
};

float at(const ConstView& view, std::int64_t t, std::int64_t h, std::int64_t d) {
  return view
      .as<float>()[t * view.stride(Axis::token) + h * view.stride(Axis::head) + d * view.stride(Axis::dim)];
}

TEST_CASE("a view without strides is row-major") {
  Numbers numbers;
  const View view(numbers.data(), DType::fp32, token_major(3, 2, 4));
  CHECK(view.stride(Axis::token) == 8);
  CHECK(view.stride(Axis::head) == 4);
  CHECK(view.stride(Axis::dim) == 1);
  CHECK(view.size(Axis::head) == 2);
  CHECK(view.numel() == 24);
  CHECK(view.contiguous());
  CHECK(view.bytes().size() == 96);
  CHECK(view.bytes().data() == numbers.data());
  CHECK(view.span<float>().size() == 24);
  CHECK(at(view, 2, 1, 3) == 23);
}

TEST_CASE("slices address the same elements as the whole, along each axis") {
  Numbers numbers;
  const View view(numbers.data(), DType::fp32, token_major(3, 2, 4));
  const Axis axes[] = {Axis::token, Axis::head, Axis::dim};
  for (const Axis axis : axes) {
    for (std::int64_t begin = 0; begin <= view.size(axis); ++begin) {
      for (std::int64_t count = 0; begin + count <= view.size(axis); ++count) {
        const View part = view.slice(axis, begin, count);
        CHECK(part.shape() == view.shape().with(axis, count));
        for (std::int64_t t = 0; t < part.size(Axis::token); ++t) {
          for (std::int64_t h = 0; h < part.size(Axis::head); ++h) {
            for (std::int64_t d = 0; d < part.size(Axis::dim); ++d) {
              CHECK(at(part, t, h, d) == at(view, t + (axis == Axis::token ? begin : 0),
                                            h + (axis == Axis::head ? begin : 0),
                                            d + (axis == Axis::dim ? begin : 0)));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a range of tokens is contiguous, a range of heads of several tokens is not") {
  Numbers numbers;
  const View view(numbers.data(), DType::fp32, token_major(3, 2, 4));
  CHECK(view.slice(Axis::token, 1, 2).contiguous());
  CHECK(view.slice(Axis::token, 1, 2).span<float>().front() == 8);
  CHECK_FALSE(view.slice(Axis::head, 1, 1).contiguous());
  CHECK_FALSE(view.slice(Axis::dim, 0, 3).contiguous());
  CHECK(view.slice(Axis::token, 2, 1).slice(Axis::head, 1, 1).contiguous());  // 4 elements in a row
  CHECK(view.slice(Axis::head, 0, 0).contiguous());                           // nothing at all
  CHECK_FALSE(View(numbers.data(), DType::fp32, token_major(2, 2), {1, 2}).contiguous());
  CHECK(View(numbers.data(), DType::fp32, token_major(2, 1), {1, 77}).contiguous());
}

TEST_CASE("a slice that leaves its axis is refused, with the numbers") {
  Numbers numbers;
  const View view(numbers.data(), DType::fp32, token_major(3, 2, 4));
  CHECK_THROWS_WITH_AS((void)view.slice(Axis::token, 2, 2),
                       "a slice of 2 from 2 along axis token leaves its 3 of [token 3, head 2, dim 4]",
                       std::out_of_range);
  CHECK_THROWS_AS((void)view.slice(Axis::head, -1, 1), std::out_of_range);
  CHECK_THROWS_AS((void)view.slice(Axis::head, 0, -1), std::out_of_range);
  CHECK_THROWS_AS((void)view.slice(Axis::head, 3, 0), std::out_of_range);
  CHECK_THROWS_AS((void)view.slice(Axis::head, INT64_MAX, 1), std::out_of_range);
  CHECK_THROWS_AS((void)view.slice(Axis::head, 1, INT64_MAX), std::out_of_range);
}

TEST_CASE("bytes of a strided view and elements of another type are refused") {
  Numbers numbers;
  const View view(numbers.data(), DType::fp32, token_major(3, 2, 4));
  CHECK_THROWS_WITH_AS(
      (void)view.slice(Axis::head, 0, 1).bytes(),
      "a contiguous view is needed, but [token 3, head 1, dim 4] has strides 8 4 1, not 4 4 1",
      std::logic_error);
  CHECK_THROWS_AS((void)view.slice(Axis::head, 0, 1).span<float>(), std::logic_error);
  CHECK_THROWS_WITH_AS((void)view.span<double>(),
                       "elements of fp64 were asked of a view of fp32, [token 3, head 2, dim 4]",
                       std::logic_error);
  CHECK_THROWS_AS((void)view.as<std::int32_t>(), std::logic_error);
  const View shifted(numbers.data() + 1, DType::fp32, token_major(3, 2));
  CHECK_THROWS_WITH_AS(
      (void)shifted.as<float>(),
      "fp32 needs an address that is a multiple of 4, this view begins 1 past one; convert() reads "
      "such views",
      std::logic_error);
  CHECK_THROWS_AS((void)shifted.span<float>(), std::logic_error);
  CHECK(shifted.bytes().size() == 24);
}

TEST_CASE("a mutable view becomes a const view of the same bytes, never the other way") {
  static_assert(std::is_convertible_v<View, ConstView>);
  static_assert(!std::is_convertible_v<ConstView, View>);
  static_assert(std::is_same_v<decltype(std::declval<ConstView>().span<float>()), std::span<const float>>);
  static_assert(std::is_same_v<decltype(std::declval<View>().span<float>()), std::span<float>>);
  Numbers numbers;
  const View view = View(numbers.data(), DType::fp32, token_major(3, 2, 4)).slice(Axis::head, 1, 1);
  const ConstView same = view;
  CHECK(same.data() == view.data());
  CHECK(same.dtype() == DType::fp32);
  CHECK(same.shape() == view.shape());
  CHECK(same.strides() == view.strides());
}

TEST_CASE("a default view has no elements") {
  CHECK(View().numel() == 0);
  CHECK(View().bytes().empty());
  CHECK(View().contiguous());
}

}  // namespace
}  // namespace straddle::tensor
