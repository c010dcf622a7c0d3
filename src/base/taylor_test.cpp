#include "kinegraph/base/taylor.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::taylor_test {
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

/// x^y and hypot(x, y) of the same x(t), y(t), against differences.
template <class Function>
void expect_derivatives_of(Function f) {
  const auto at = [&](double t) { return f(0.8 + 0.5 * t - 0.3 * t * t, 1.3 - 0.2 * t + 0.7 * t * t); };
  const double h = 1e-3;
  const Taylor2 z = f(Taylor2(0.8, 0.5, -0.6), Taylor2(1.3, -0.2, 1.4));
  EXPECT_EQ(z.x, at(0));
  EXPECT_NEAR(z.d, (8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h), 1e-10);
  EXPECT_NEAR(z.dd, (16 * (at(h) + at(-h)) - at(2 * h) - at(-2 * h) - 30 * at(0)) / (12 * h * h), 1e-8);
}

TEST(Taylor2, PowersAndDistancesHaveDerivatives) {
  using std::hypot, std::pow;
  expect_derivatives_of([](auto x, auto y) { return pow(x, y); });
  expect_derivatives_of([](auto x, auto y) { return hypot(x, y); });
}

TEST(Taylor2, TheValueDoesNotDependOnRatesThatOverflow) {
  const Taylor2 steep(-2, HUGE_VAL, NAN), exponent(3, NAN, 1);
  EXPECT_EQ(pow(steep, exponent).x, -8);
  EXPECT_EQ(pow(Taylor2(-2), Taylor2(3, 1, 0)).x, -8);  // and has no rate: (−2)^y is not defined around 3
  EXPECT_DOUBLE_EQ(hypot(Taylor2(3e200, 1, 0), Taylor2(4e200)).x, 5e200);
  EXPECT_NEAR(hypot(Taylor2(3e200, 1, 0), Taylor2(4e200)).d, 0.6, 1e-15);
}

TEST(Taylor2, WhatStandsStillHasNoRateWhereTheFunctionIsSteep) {
  for (const Taylor2& z : {sqrt(Taylor2(0)), cbrt(Taylor2(0)), asin(Taylor2(1)), pow(Taylor2(0), 0.5),
                           hypot(Taylor2(0), Taylor2(0)), pow(Taylor2(1e300), 5)}) {
    EXPECT_EQ(z.d, 0);
    EXPECT_EQ(z.dd, 0);
  }
}

TEST(Taylor1, CarriesOneDerivativeThroughAFormula) {
  const Taylor1 z = formula(Taylor1(0.8, 0.5), Taylor1(1.3, -0.2));
  EXPECT_NEAR(z.x, at(0), 1e-15);
  EXPECT_NEAR(z.d, rate(), 1e-10);
}

}  // namespace
}  // namespace kinegraph::taylor_test
