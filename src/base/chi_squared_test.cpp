#include "kinegraph/base/chi_squared.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::chi_squared_test {
namespace {

// Two degrees: 1 − exp(−x/2). One: erf √(x/2). Four: 1 − (1 + x/2) exp(−x/2).
TEST(ChiSquared, HasItsClosedForms) {
  for (const double x : {1e-8, 0.01, 0.5, 1.0, 3.0, 10.0, 40.0, 300.0}) {
    EXPECT_NEAR(chi_squared_below(x, 2), -std::expm1(-x / 2), 1e-14);
    EXPECT_NEAR(chi_squared_below(x, 1), std::erf(std::sqrt(x / 2)), 1e-14);
    EXPECT_NEAR(chi_squared_above(x, 1) / std::erfc(std::sqrt(x / 2)), 1, 1e-11);
    EXPECT_NEAR(chi_squared_above(x, 2) / std::exp(-x / 2), 1, 1e-11);
    EXPECT_NEAR(chi_squared_above(x, 4) / ((1 + x / 2) * std::exp(-x / 2)), 1, 1e-11);
    EXPECT_NEAR(chi_squared_below(x, 7) + chi_squared_above(x, 7), 1, 1e-14);
  }
  EXPECT_EQ(chi_squared_below(0, 3), 0);
  EXPECT_EQ(chi_squared_above(-1, 3), 1);
  EXPECT_EQ(chi_squared_below(HUGE_VAL, 3), 1);
}

// Against tables, to the digits that they have (Abramowitz and Stegun, table 26.8; R for the large ones).
TEST(ChiSquared, HasTheQuantilesOfTables) {
  EXPECT_NEAR(chi_squared_quantile(0.95, 1), 3.841458820694124, 1e-10);
  EXPECT_NEAR(chi_squared_quantile(0.975, 1), 5.023886187314888, 1e-10);
  EXPECT_NEAR(chi_squared_quantile(0.025, 1), 0.0009820691171752583, 1e-14);
  EXPECT_NEAR(chi_squared_quantile(0.99, 3), 11.344866730144373, 1e-10);
  EXPECT_NEAR(chi_squared_quantile(0.999, 6), 22.457744484825323, 1e-9);
  EXPECT_NEAR(chi_squared_quantile(0.025, 10), 3.246972780236841, 1e-10);
  EXPECT_NEAR(chi_squared_quantile(0.975, 100), 129.56119718583659, 1e-8);
  EXPECT_NEAR(chi_squared_quantile(0.025, 100), 74.22192747492373, 1e-8);
}

TEST(ChiSquared, IsTheInverseOfItsQuantile) {
  for (const double n : {0.5, 1.0, 2.0, 5.0, 59.0, 61.0, 400.0, 1e4, 1e6}) {
    for (const double p : {1e-10, 1e-4, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9999, 1 - 1e-10}) {
      const double x = chi_squared_quantile(p, n);
      if (p < 0.5) {
        EXPECT_NEAR(chi_squared_below(x, n) / p, 1, 1e-8) << p << " " << n;
      } else {
        EXPECT_NEAR(chi_squared_above(x, n) / (1 - p), 1, 1e-8) << p << " " << n;
      }
    }
  }
  EXPECT_EQ(chi_squared_quantile(0, 3), 0);
  EXPECT_TRUE(std::isinf(chi_squared_quantile(1, 3)));
}

// Far from the mean of many squares: normal, with the next terms of its expansion (Cornish and Fisher).
TEST(ChiSquared, IsNearlyNormalForMany) {
  const double n = 1e6, z = 1.959963984540054;
  const double expected =
      n + std::sqrt(2 * n) * z + 2.0 / 3 * (z * z - 1) + (z * z * z - 7 * z) / (9 * std::sqrt(2 * n));
  EXPECT_NEAR(chi_squared_quantile(0.975, n), expected, 1e-5);
}

}  // namespace
}  // namespace kinegraph::chi_squared_test
