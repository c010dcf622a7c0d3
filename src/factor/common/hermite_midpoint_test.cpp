#include "kinegraph/factor/common/hermite_midpoint.hpp"

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::hermite_midpoint_test {
namespace {

TEST(HermiteMidpoint, IsExactForCubics) {
  const double h = 0.3, t = 0.7, m = t + h / 2, s = t + h;
  const auto x = [](double u) { return u * u * u - 2 * u * u; };
  const auto v = [](double u) { return 3 * u * u - 4 * u; };
  EXPECT_NEAR(residual(HermiteMidpoint(1, h), {{x(t)}, {v(t)}, {x(s)}, {v(s)}, {x(m)}})[0], 0, 1e-15);
}

TEST(HermiteMidpoint, Jacobians) { expect_exact_jacobians(HermiteMidpoint(3, 0.1)); }

}  // namespace
}  // namespace kinegraph::hermite_midpoint_test
