#include "kinegraph/mechanics/natural/relative_angle.hpp"

#include "kinegraph/mechanics/natural/equation_test.hpp"

namespace kinegraph::natural::relative_angle_test {
namespace {

TEST(RelativeAngle, HoldsBetweenTwoMovingBodies) {
  const Motion m = some_motion();
  const Motion other{{1.0, 0.3, -0.2}, {0.1, 0.9, 1.2}, {-1.9, 0.8, 2.2}};
  const auto p0 = m.at(0, 0), p1 = m.at(1.7, 0), p2 = other.at(0.3, 0.1), p3 = other.at(1.1, 0.1);
  const Taylor2 theta = other.angle - m.angle;
  expect_zero(RelativeAngle{}.phi(std::array{p0[0], p0[1], p1[0], p1[1], p2[0], p2[1], p3[0], p3[1], theta}, 0));
}

TEST(RelativeAngle, IsPositiveCounterclockwise) {
  // The second line is 0.1 rad ahead of what θ = 0.3 says: Φ = |a||b| sin 0.1
  const double c = std::cos(0.4), s = std::sin(0.4);
  EXPECT_NEAR(RelativeAngle{}.phi(std::array<double, 9>{0, 0, 2, 0, 0, 0, 3 * c, 3 * s, 0.3}, 0), 6 * std::sin(0.1),
              1e-14);
}

TEST(RelativeAngle, DerivativesAreExact) { expect_exact_derivatives(RelativeAngle{}); }

}  // namespace
}  // namespace kinegraph::natural::relative_angle_test
