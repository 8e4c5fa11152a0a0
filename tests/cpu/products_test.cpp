#include "cpu/products.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "cpu/panels.hpp"

namespace straddle::cpu {
namespace {

template <class T>
std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(normal(generator));
  return values;
}

// One element by its rule: multiply-adds over k in order from zero, added to c at the end. Without a fused
// multiply-add in the processor, products are rounded.
template <class T>
T chain(const std::vector<T>& a, const std::vector<T>& b, T c) {
  T sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
#ifdef __FMA__
    sum = std::fma(a[k], b[k], sum);
#else
    volatile const T product = a[k] * b[k];
    sum += product;
#endif
  }
  return c + sum;
}

template <class T, Left left, Into into>
void check_product(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  const std::int64_t a_stride = (left == Left::rows ? depth : rows) + 3;
  const auto a = random_values<T>(a_stride * std::max(rows, depth), 1);
  const auto b = random_values<T>(depth * columns, 2);
  std::vector<T> panels(static_cast<std::size_t>(panelled_size<T>(depth, columns)), std::nan(""));
  panel_rows(b.data(), columns, depth, columns, depth, panels.data());
  const std::int64_t c_stride = round_up(columns, kLanes<T>) + 1;
  const auto before = random_values<T>(rows * c_stride, 3);
  auto c = before;
  for (std::int64_t n = 0; n < columns; n += kPanelColumns<T>) {
    multiply_panel<T, left, into>(
        columns - n, 0, rows,
        [depth](std::int64_t, std::int64_t) {
          return Depth{0, depth};
        },
        a.data(), a_stride, panels.data() + n * depth, c.data() + n, c_stride);
  }
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t n = 0; n < c_stride; ++n) {
      const auto at = static_cast<std::size_t>(m * c_stride + n);
      if (n >= round_up(columns, kLanes<T>)) {
        REQUIRE(c[at] == before[at]);  // behind the row: not touched
        continue;
      }
      std::vector<T> of_a, of_b;
      for (std::int64_t k = 0; k < depth; ++k) {
        of_a.push_back(a[static_cast<std::size_t>(left == Left::rows ? m * a_stride + k : m + k * a_stride)]);
        of_b.push_back(n < columns ? b[static_cast<std::size_t>(k * columns + n)] : T{0});
      }
      CAPTURE(m);
      CAPTURE(n);
      REQUIRE(c[at] == chain(of_a, of_b, into == Into::add ? before[at] : T{0}));
    }
  }
}

TEST_CASE_TEMPLATE("every element is one chain over k, whatever the number of rows and columns", T, float,
                   double) {
  for (std::int64_t rows = 0; rows <= 2 * kBlockRows + 1; ++rows) {
    for (const std::int64_t columns : {1, kLanes<T>, kLanes<T> + 1, kPanelColumns<T>, 3 * kLanes<T> - 1}) {
      for (const std::int64_t depth : {0, 1, 2, 5, 64}) {
        CAPTURE(rows);
        CAPTURE(columns);
        CAPTURE(depth);
        check_product<T, Left::rows, Into::set>(rows, columns, depth);
        check_product<T, Left::rows, Into::add>(rows, columns, depth);
        check_product<T, Left::transposed, Into::add>(rows, columns, depth);
      }
    }
  }
}

TEST_CASE_TEMPLATE("rows outside their range and k outside their depth are not touched", T, float, double) {
  constexpr std::int64_t kRows = 2 * kBlockRows + 3, kDepth = 12;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::int64_t begin = 0; begin < kRows; ++begin) {
    // A row m may use k in [2, 10); everything else of A and B is NaN.
    std::vector<T> a(kRows * kDepth, nan), b(kDepth * kPanelColumns<T>, nan),
        c(kRows * kPanelColumns<T>, T{5});
    for (std::int64_t k = 2; k < 10; ++k) {
      for (std::int64_t m = begin; m < kRows; ++m) a[static_cast<std::size_t>(m * kDepth + k)] = 1;
      for (std::int64_t n = 0; n < kPanelColumns<T>; ++n) {
        b[static_cast<std::size_t>(k * kPanelColumns<T> + n)] = 1;
      }
    }
    const auto depth_of = [&](std::int64_t first, std::int64_t last) {
      CHECK(first >= begin);
      CHECK(last < kRows);
      return Depth{2, 10};
    };
    multiply_panel<T, Left::rows, Into::set>(kPanelColumns<T>, begin, kRows, depth_of, a.data(), kDepth,
                                             b.data(), c.data(), kPanelColumns<T>);
    for (std::int64_t i = 0; i < kRows * kPanelColumns<T>; ++i) {
      REQUIRE(c[static_cast<std::size_t>(i)] == (i / kPanelColumns<T> < begin ? 5 : 8));
    }
  }
}

TEST_CASE_TEMPLATE("zeros before and after a chain change no bit", T, float, double) {
  const auto a = random_values<T>(20, 4);
  const auto b = random_values<T>(20 * kPanelColumns<T>, 5);
  const auto product = [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> weights(20, T{0}), c(static_cast<std::size_t>(kPanelColumns<T>));
    std::copy(a.begin() + 7, a.begin() + 13, weights.begin() + 7);
    multiply_panel<T, Left::rows, Into::set>(
        kPanelColumns<T>, 0, 1,
        [&](std::int64_t, std::int64_t) {
          return Depth{begin, end};
        },
        weights.data(), 20, b.data(), c.data(), kPanelColumns<T>);
    return c;
  };
  CHECK(product(7, 13) == product(0, 20));
  CHECK(product(7, 13) == product(3, 14));
  CHECK(product(7, 13) != product(7, 12));
}

TEST_CASE_TEMPLATE("panels of keys hold every element in its place and zeros behind", T, float, double) {
  constexpr std::int64_t kHeads = 2, kSize = 5;
  for (const std::int64_t keys : std::initializer_list<std::int64_t>{
           1, kPanelColumns<T> - 1, kPanelColumns<T>, 2 * kPanelColumns<T> + 3}) {
    const auto values = random_values<T>((keys + 2) * kHeads * kSize, 6);
    const tensor::ConstView view(reinterpret_cast<const std::byte*>(values.data()), tensor::DTypeOf<T>::value,
                                 tensor::token_major(keys + 2, kHeads, kSize));
    std::vector<T> stage(kPanelColumns<T> * kSize);
    std::vector<T> transposed(static_cast<std::size_t>(panelled_size<T>(kSize, keys)), std::nan(""));
    std::vector<T> by_rows(static_cast<std::size_t>(panelled_size<T>(keys, kSize)), std::nan(""));
    panel_keys<T>(RowReader<T>(view), 1, keys, 1, stage.data(), transposed.data(), by_rows.data());
    const auto element = [&](std::int64_t key, std::int64_t d) {
      if (key >= keys || d >= kSize) return T{0};
      return values[static_cast<std::size_t>(((key + 1) * kHeads + 1) * kSize + d)];
    };
    for (std::int64_t key = 0; key < round_up(keys, kPanelColumns<T>); ++key) {
      for (std::int64_t d = 0; d < kSize; ++d) {
        const std::int64_t panel = key / kPanelColumns<T>;
        REQUIRE(transposed[static_cast<std::size_t>((panel * kSize + d) * kPanelColumns<T> +
                                                    key % kPanelColumns<T>)] == element(key, d));
      }
    }
    for (std::int64_t key = 0; key < keys; ++key) {
      for (std::int64_t d = 0; d < kPanelColumns<T>; ++d) {
        REQUIRE(by_rows[static_cast<std::size_t>(key * kPanelColumns<T> + d)] == element(key, d));
      }
    }
  }
}

}  // namespace
}  // namespace straddle::cpu
