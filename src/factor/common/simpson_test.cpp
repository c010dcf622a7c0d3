#include "kinegraph/factor/common/simpson.hpp"

#include <cmath>

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::simpson_test {
namespace {

TEST(Simpson, IsExactForQuarticsAndNotForQuintics) {
  const double h = 0.3, t = 0.7, m = t + h / 2, s = t + h;
  const auto error = [&](int n) {
    const auto x = [n](double u) { return std::pow(u, n); };
    const auto v = [n](double u) { return n * std::pow(u, n - 1); };
    return residual(Simpson(1, h), {{x(t)}, {x(s)}, {v(t)}, {v(m)}, {v(s)}})[0];
  };
  EXPECT_NEAR(error(4), 0, 1e-15);
  // Simpson's rule: −(h⁵/2880) f⁗, f⁗ = 120 for f = 5 u⁴
  EXPECT_NEAR(error(5), -std::pow(h, 5) / 2880 * 120, 1e-15);
}

TEST(Simpson, Jacobians) { expect_exact_jacobians(Simpson(3, 0.1)); }

}  // namespace
}  // namespace kinegraph::simpson_test
