#include "kinegraph/mechanics/natural/absolute_angle.hpp"

#include "kinegraph/mechanics/natural/equation_test.hpp"

namespace kinegraph::natural::absolute_angle_test {
namespace {

TEST(AbsoluteAngle, HoldsAlongARigidMotion) {
  const Motion m = some_motion();
  const auto i = m.at(0, 0), j = m.at(1.7, 0);
  expect_zero(AbsoluteAngle{}.phi(std::array{i[0], i[1], j[0], j[1], m.angle}, 0));
}

TEST(AbsoluteAngle, NeverDegenerates) {
  for (double theta = -7; theta < 7; theta += 0.1) {
    const auto g =
        AbsoluteAngle{}.gradient(std::array<double, 5>{0, 0, 2 * std::cos(theta), 2 * std::sin(theta), theta});
    EXPECT_NEAR(g[4], -2, 1e-14);  // ∂Φ/∂θ = −L at every angle
  }
}

TEST(AbsoluteAngle, DerivativesAreExact) { expect_exact_derivatives(AbsoluteAngle{}); }

}  // namespace
}  // namespace kinegraph::natural::absolute_angle_test
