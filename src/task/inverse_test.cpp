#include "kinegraph/task/inverse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace kinegraph::task::inverse_test {
namespace {

/// A slender bar on a pin, its angle declared.
Model bar() {
  Model m;
  m.points.push_back({"O", {0, 0}, {0, 0}, true, {}});
  m.points.push_back({"P", {0.5, 0}, {0, 0}, false, {}});
  PlanarBody b;
  b.name = "bar";
  b.points = {PointIndex(0), PointIndex(1)};
  b.local = {{0, 0}, {0.5, 0}};
  b.length = 0.5;
  b.mass = 2;
  b.inertia = b.mass * 0.25 / 3;
  b.cog = {0.25, 0};
  m.bodies.push_back(b);
  RelativeCoordinate theta;
  theta.name = "theta";
  theta.points = {PointIndex(0), PointIndex(1)};
  m.relative.push_back(theta);
  return m;
}

TEST(Inverse, ABarsTorqueIsInertiaAndWeight) {
  Trajectory motion({"theta.q"});
  for (int k = 0; k <= 200; ++k) *motion.append(0.01 * k) = std::sin(0.01 * k);
  const auto result = inverse(bar(), motion, {});
  ASSERT_TRUE(result) << result.failure().to_string();
  const int tau = result->trajectory.find("theta.tau");
  for (int k = 20; k <= 180; ++k) {
    const double t = 0.01 * k;
    const double exact = -2 * 0.25 / 3 * std::sin(t) + 2 * kGravity * 0.25 * std::cos(std::sin(t));
    EXPECT_NEAR(result->trajectory.at(k, tau), exact, 1e-5);
  }
}

TEST(Inverse, SamplesFarApartDoNotTurnTheBarAround) {
  Trajectory motion({"theta.q"});
  for (int k = 0; k < 11; ++k) *motion.append(0.1 * k) = 3.0 * k;
  const auto result = inverse(bar(), motion, {});
  ASSERT_TRUE(result) << result.failure().to_string();
  const int x = result->trajectory.find("P.x"), y = result->trajectory.find("P.y");
  for (int k = 0; k < 11; ++k) {
    EXPECT_NEAR(result->trajectory.at(k, x), 0.5 * std::cos(3.0 * k), 1e-6);
    EXPECT_NEAR(result->trajectory.at(k, y), 0.5 * std::sin(3.0 * k), 1e-6);
  }
}

/// Recorded between −π and π, and with a column that says something else.
TEST(Inverse, WrappedAnglesAreOneMotionAndContradictionsAreTold) {
  Trajectory plain({"theta.q"}), wrapped({"theta.q", "P.x"});
  for (int k = 0; k <= 100; ++k) {
    const double t = 0.02 * k, angle = 4 * t + 0.3 * std::sin(2 * t);
    *plain.append(t) = angle;
    double* row = wrapped.append(t);
    row[0] = std::remainder(angle, 2 * std::numbers::pi);
    row[1] = 0.5 * std::cos(angle) + (k == 70 ? 0.02 : 0);
  }
  const auto one = inverse(bar(), plain, {}), other = inverse(bar(), wrapped, {});
  ASSERT_TRUE(one) << one.failure().to_string();
  ASSERT_TRUE(other) << other.failure().to_string();
  const int tau = one->trajectory.find("theta.tau"), q = one->trajectory.find("theta.q");
  for (int k = 0; k <= 100; ++k) {
    EXPECT_NEAR(other->trajectory.at(k, tau), one->trajectory.at(k, tau), 1e-6) << k;
    EXPECT_NEAR(other->trajectory.at(k, q), one->trajectory.at(k, q), 1e-9) << k;
  }
  EXPECT_TRUE(one->summary.warnings.empty());
  ASSERT_EQ(other->summary.warnings.size(), 1U);
  EXPECT_EQ(other->summary.warnings[0],
            "column 'P.x' contradicts theta.q, which determines the mechanism, and was not used: at t = 1.4 s it is "
            "off by 0.02 m");
}

TEST(Inverse, RefusesWhatDoesNotPrescribeTheMechanism) {
  EXPECT_EQ(inverse(bar(), Trajectory({"theta.q"}), {}).failure().to_string(), "error: the motion has no samples");
  Trajectory unknown({"thete.q"});
  *unknown.append(0) = 0;
  EXPECT_EQ(inverse(bar(), unknown, {}).failure().to_string(),
            "error: unknown coordinate 'thete.q'; did you mean 'theta.q'?");
  Trajectory motion({"theta.q"});
  *motion.append(0) = 0;
  InverseOptions options;
  options.actuators = {"elbow"};
  EXPECT_EQ(inverse(bar(), motion, options).failure().exit_status(), 2);
}

TEST(Inverse, AMasslessPartIsNamed) {
  Model model = bar();
  model.bodies[0].mass = model.bodies[0].inertia = 0;
  Trajectory motion({"theta.q"});
  *motion.append(0) = 0;
  const auto result = inverse(model, motion, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 1);
}

}  // namespace
}  // namespace kinegraph::task::inverse_test
