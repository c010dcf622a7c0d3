#include "kinegraph/mechanics/natural/body_torque_force.hpp"

#include <gtest/gtest.h>

#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::natural::body_torque_force_test {
namespace {

TEST(BodyTorqueForce, PowerIsTorqueTimesAngularVelocity) {
  const BodyTorqueForce force{law_of_t("2*t"), 2.0};
  const double angle = 0.7, omega = 1.9, t = 1.5;
  const double c = 2 * std::cos(angle), s = 2 * std::sin(angle);
  const std::array<double, 4> x{0.3, 0.4, 0.3 + c, 0.4 + s}, v{1.1, -0.6, 1.1 - omega * s, -0.6 + omega * c};
  const auto Q = force.force(x, v, t);
  EXPECT_NEAR(Q[0] * v[0] + Q[1] * v[1] + Q[2] * v[2] + Q[3] * v[3], 3.0 * omega, 1e-13);
  EXPECT_NEAR(Q[0] + Q[2], 0, 1e-15);
  EXPECT_NEAR(Q[1] + Q[3], 0, 1e-15);
}

TEST(BodyTorqueForce, IsLinearInThePositions) {
  const BodyTorqueForce force{Law(0.9), 1.3};
  const std::array<double, 4> x{0.3, -0.4, 1.2, 0.8};
  const auto Q = force.force(x, {}, 0);
  const auto values = force.by_position(x, {}, 0);
  std::array<double, 4> product{};
  for (std::size_t k = 0; k < values.size(); ++k)
    product[force.kPattern[k].row] += values[k] * x[force.kPattern[k].column];
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(product[i], Q[i], 1e-15);
}

}  // namespace
}  // namespace kinegraph::natural::body_torque_force_test
