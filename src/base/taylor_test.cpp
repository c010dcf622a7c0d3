#include "kinegraph/base/taylor.hpp"

#include <gtest/gtest.h>

namespace kinegraph {
namespace {

/// A formula that uses every operation, at x(t) = 0.8 + 0.5 t − 0.3 t² and y(t) = 1.3 − 0.2 t + 0.7 t².
template <class T>
T formula(const T& x, const T& y) {
  using std::cos, std::sin, std::sqrt;
  T z = sin(x * y) / (y + 2.0 * x) - cos(-x) * sqrt(y);
  z += x;
  z -= y * y;
  z *= x;
  z /= y;
  return z;
}

double at(double t) { return formula(0.8 + 0.5 * t - 0.3 * t * t, 1.3 - 0.2 * t + 0.7 * t * t); }

constexpr double kStep = 1e-3;

double rate() { return (8 * (at(kStep) - at(-kStep)) - at(2 * kStep) + at(-2 * kStep)) / (12 * kStep); }

double acceleration() {
  return (16 * (at(kStep) + at(-kStep)) - at(2 * kStep) - at(-2 * kStep) - 30 * at(0)) / (12 * kStep * kStep);
}

TEST(Taylor2, CarriesTwoDerivativesThroughAFormula) {
  const Taylor2 z = formula(Taylor2(0.8, 0.5, -0.6), Taylor2(1.3, -0.2, 1.4));
  EXPECT_NEAR(z.x, at(0), 1e-15);
  EXPECT_NEAR(z.d, rate(), 1e-10);
  EXPECT_NEAR(z.dd, acceleration(), 1e-8);
}

TEST(Taylor1, CarriesOneDerivativeThroughAFormula) {
  const Taylor1 z = formula(Taylor1(0.8, 0.5), Taylor1(1.3, -0.2));
  EXPECT_NEAR(z.x, at(0), 1e-15);
  EXPECT_NEAR(z.d, rate(), 1e-10);
}

}  // namespace
}  // namespace kinegraph
