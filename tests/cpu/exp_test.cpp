#include "cpu/exp.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace straddle::cpu {
namespace {

template <class T>
T exp_of(T x) {
  return exp<T>(broadcast(x))[0];
}

// |got - exp(x)| in units of the last place of exp(x).
template <class T>
long double error_in_ulp(T x) {
  const long double exact = std::exp(static_cast<long double>(x));
  const T nearest = static_cast<T>(exact);
  const long double ulp = std::nextafter(nearest, std::numeric_limits<T>::infinity()) - nearest;
  return std::fabs(exp_of(x) - exact) / ulp;
}

TEST_CASE("exp of float is within 1 ulp at every 5917th float from the lowest normal result to 88") {
  long double worst = 0;
  const auto scan = [&](float from, float to) {
    const std::uint32_t end = std::bit_cast<std::uint32_t>(to);
    for (std::uint32_t bits = std::bit_cast<std::uint32_t>(from); bits <= end; bits += 5917) {
      worst = std::max(worst, error_in_ulp(std::bit_cast<float>(bits)));
    }
  };
  scan(0.0F, 88.0F);
  scan(-0.0F, ExpConstants<float>::kLowest);
  CHECK(worst < 1);
  CHECK(worst > 0.4);  // rounding alone gives a half: the measure measures
}

TEST_CASE("exp of double is within 1 ulp on 200000 random arguments and near multiples of ln 2 / 2") {
  std::mt19937_64 generator(3);
  std::uniform_real_distribution<double> everywhere(-708, 709), near_zero(-1, 1);
  long double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    worst = std::max(worst, error_in_ulp(everywhere(generator)));
    worst = std::max(worst, error_in_ulp(near_zero(generator)));
  }
  for (int half = -2000; half <= 2000; ++half) {
    const double x = half * (std::numbers::ln2 / 2);
    for (const double step : {-1e-9, 0.0, 1e-9}) worst = std::max(worst, error_in_ulp(x + x * step));
  }
  CHECK(worst < 1);
  CHECK(worst > 0.4);
}

TEST_CASE_TEMPLATE("exp at its ends: 0, infinities, NaN, the last normal result", T, float, double) {
  const T infinity = std::numeric_limits<T>::infinity();
  CHECK(exp_of<T>(0) == 1);
  CHECK(exp_of<T>(-T{0}) == 1);
  CHECK(exp_of<T>(-infinity) == 0);
  CHECK(!std::signbit(exp_of<T>(-infinity)));
  CHECK(exp_of<T>(infinity) == infinity);
  CHECK(exp_of<T>(std::numeric_limits<T>::max()) == infinity);
  CHECK(exp_of<T>(std::numeric_limits<T>::lowest()) == 0);
  CHECK(std::isnan(exp_of<T>(std::numeric_limits<T>::quiet_NaN())));
  CHECK(exp_of<T>(std::numeric_limits<T>::denorm_min()) == 1);

  const T lowest = ExpConstants<T>::kLowest;
  CHECK(exp_of<T>(lowest) >= std::numeric_limits<T>::min());
  CHECK(exp_of<T>(std::nextafter(lowest, -infinity)) == 0);
  CHECK(std::exp(static_cast<long double>(lowest) - 1e-4L) < std::numeric_limits<T>::min());
  CHECK(exp_of<T>(ExpConstants<T>::kHighest) < infinity);
}

TEST_CASE_TEMPLATE("exp gives the same bits in every lane", T, float, double) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal(-10, 20);
  for (int i = 0; i < 1000; ++i) {
    Vector<T> x{};
    for (int lane = 0; lane < kLanes<T>; ++lane) x[lane] = static_cast<T>(normal(generator));
    const Vector<T> together = exp<T>(x);
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      REQUIRE(std::bit_cast<Bits<T>>(T{together[lane]}) == std::bit_cast<Bits<T>>(exp_of<T>(x[lane])));
    }
  }
}

TEST_CASE_TEMPLATE("lanes: largest, sum and selection, each lane in turn", T, float, double) {
  const T infinity = std::numeric_limits<T>::infinity();
  for (int lane = 0; lane < kLanes<T>; ++lane) {
    Vector<T> x = broadcast(T{-3});
    x[lane] = 7;
    CHECK(largest_lane<T>(x) == 7);
    CHECK(sum_of_lanes<T>(x) == 7 - 3 * (kLanes<T> - 1));
  }
  const Vector<T> nothing = broadcast(std::numeric_limits<T>::quiet_NaN());
  for (int count = 0; count <= 2 * kLanes<T>; ++count) {
    const Vector<T> seen = first_lanes(broadcast(T{2}), count, -infinity);
    const Vector<T> behind = first_lanes(nothing, 0, T{1});
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      CHECK(seen[lane] == (lane < count ? T{2} : -infinity));
      CHECK(behind[lane] == 1);
    }
  }
}

}  // namespace
}  // namespace straddle::cpu
