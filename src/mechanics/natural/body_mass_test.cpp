#include "kinegraph/mechanics/natural/body_mass.hpp"

#include <gtest/gtest.h>

namespace kinegraph::natural::body_mass_test {
namespace {

PlanarBody plate() {
  PlanarBody body;
  body.length = 1.7;
  body.mass = 2.3;
  body.cog = {0.6, -0.4};
  body.inertia = 1.9;  // about the first point
  return body;
}

// T = ½ m |v_g|² + ½ I_g ω², from the velocity of the first point and ω (Koenig)
TEST(BodyMass, GivesTheKineticEnergyOfARigidMotion) {
  const PlanarBody body = plate();
  const double angle = 0.8, omega = -1.3;
  const Vector2d v0(0.7, 0.2), along(std::cos(angle), std::sin(angle)), across(-along.y(), along.x());
  const Vector2d v1 = v0 + omega * body.length * across;
  const Vector2d vg = v0 + omega * (body.cog.x() * across - body.cog.y() * along);
  const double Ig = body.inertia - body.mass * body.cog.squaredNorm();
  Eigen::Vector4d v;
  v << v0, v1;
  EXPECT_NEAR(0.5 * v.dot(body_mass(body) * v), 0.5 * body.mass * vg.squaredNorm() + 0.5 * Ig * omega * omega, 1e-13);
  EXPECT_TRUE(body_mass(body).isApprox(body_mass(body).transpose()));
}

// Power of the weight: m g · v_g
TEST(BodyMass, WeightDoesTheWorkOfTheCentreOfGravity) {
  const PlanarBody body = plate();
  const Vector2d gravity(1.1, -9.7), p0(0.3, 0.4), p1 = p0 + 1.7 * Vector2d(0.6, 0.8);
  const Vector2d centre = p0 + 0.6 * Vector2d(0.6, 0.8) - 0.4 * Vector2d(-0.8, 0.6);
  Eigen::Vector4d p;
  p << p0, p1;
  EXPECT_NEAR(body_weight(body, gravity).dot(p), body.mass * gravity.dot(centre), 1e-13);
}

}  // namespace
}  // namespace kinegraph::natural::body_mass_test
