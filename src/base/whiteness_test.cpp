#include "kinegraph/base/whiteness.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/base/random.hpp"

namespace kinegraph::whiteness_test {
namespace {

std::vector<double> correlations(const std::vector<double>& u, int lags) {
  double squares = 0;
  for (const double x : u) squares += x * x;
  std::vector<double> r(lags, 0.0);
  for (int lag = 1; lag <= lags; ++lag) {
    for (std::size_t i = lag; i < u.size(); ++i) r[lag - 1] += u[i] * u[i - lag] / squares;
  }
  return r;
}

// Two degrees of freedom: the probability is exp(−Q/2).
TEST(LjungBox, IsTheFormula) {
  const LjungBox found = ljung_box({0.1, -0.2}, 100);
  const double q = 100 * 102 * (0.01 / 99 + 0.04 / 98);
  EXPECT_NEAR(found.statistic, q, 1e-12);
  EXPECT_NEAR(found.p_value, std::exp(-q / 2), 1e-12);
  EXPECT_EQ(ljung_box({}, 100).p_value, 1);
}

// Of white numbers a tenth is called so unlikely; of those that follow each other nearly all.
TEST(LjungBox, TellsWhiteFromCoupledNumbers) {
  int white = 0, coupled = 0;
  for (int seed = 0; seed < 400; ++seed) {
    Random random(seed, 8);
    std::vector<double> u(300), v(300);
    for (std::size_t i = 0; i < u.size(); ++i) {
      u[i] = random.normal();
      v[i] = u[i] + (i > 0 ? 0.4 * v[i - 1] : 0);
    }
    white += ljung_box(correlations(u, 10), 300).p_value < 0.1;
    coupled += ljung_box(correlations(v, 10), 300).p_value < 0.1;
  }
  EXPECT_NEAR(white, 40, 24);  // four standard deviations
  EXPECT_GT(coupled, 395);
}

}  // namespace
}  // namespace kinegraph::whiteness_test
