#include "kinegraph/factor/common/trapezoidal.hpp"

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::trapezoidal_test {
namespace {

TEST(Trapezoidal, IsExactForQuadratics) {
  const double h = 0.3, t = 0.7;  // x = t² at t and t + h
  const auto e = residual(Trapezoidal(1, h), {{t * t}, {2 * t}, {(t + h) * (t + h)}, {2 * (t + h)}});
  EXPECT_NEAR(e[0], 0, 1e-15);
}

TEST(Trapezoidal, NamesItsRows) {
  EXPECT_EQ(Trapezoidal(2, 0.1, {"P1.x", "P1.y"}).row_name(1), "trapezoidal P1.y");
  EXPECT_EQ(Trapezoidal(2, 0.1).row_name(1), "trapezoidal[1]");
}

TEST(Trapezoidal, Jacobians) { expect_exact_jacobians(Trapezoidal(4, 1e-3)); }

}  // namespace
}  // namespace kinegraph::trapezoidal_test
