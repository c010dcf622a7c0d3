#include "kinegraph/factor/common/hermite_simpson.hpp"

#include <cmath>

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::hermite_simpson_test {
namespace {

TEST(HermiteSimpson, IsExactForQuarticsAndNotForQuintics) {
  const double h = 0.3, t = 0.7, s = t + h;
  const auto error = [&](int n) {
    const auto x = [n](double u) { return std::pow(u, n); };
    const auto v = [n](double u) { return n * std::pow(u, n - 1); };
    const auto a = [n](double u) { return n * (n - 1) * std::pow(u, n - 2); };
    return residual(HermiteSimpson(1, h), {{x(t)}, {v(t)}, {a(t)}, {x(s)}, {v(s)}, {a(s)}})[0];
  };
  EXPECT_NEAR(error(4), 0, 1e-15);
  // Simpson: −(h⁵/2880) f⁗ with f = 5 u⁴; the rate in the middle is off by h⁴/384 f⁗, which counts (h/6) 4 times
  EXPECT_NEAR(error(5), 120 * std::pow(h, 5) * (-1.0 / 2880 + 4.0 / 6 / 384), 1e-15);
}

TEST(HermiteSimpson, Jacobians) { expect_exact_jacobians(HermiteSimpson(3, 0.1)); }

}  // namespace
}  // namespace kinegraph::hermite_simpson_test
