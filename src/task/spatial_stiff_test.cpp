#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/task/spatial_simulate.hpp"

namespace kinegraph::task::spatial_stiff_test {
namespace {

/// One link on one joint, its centre of mass `arm` along x.
Model one_joint(JointType type, const Vector3d& axis, double mass, double arm, const JointDynamics& dynamics) {
  Model model;
  Link link;
  link.name = "body";
  link.has_inertia = true;
  link.inertia = {mass, {arm, 0, 0}, Vector3d(0.01, 0.01, 0.01).asDiagonal()};
  Joint joint;
  joint.name = "j";
  joint.type = type;
  joint.child = LinkIndex(0);
  joint.axis = axis;
  joint.dynamics = {dynamics};
  model.robot.links = {link};
  model.robot.joints = {joint};
  return model;
}

Model slider(double friction) {
  return one_joint(JointType::prismatic, Vector3d::UnitZ(), 1, 0, {0, friction, 0, 0, 0});
}

Model pendulum(double damping) {
  return one_joint(JointType::revolute, Vector3d::UnitY(), 2, 0.5, {damping, 0, 0, 0, 0});
}

SimulateOptions options_of(double time, const std::string& integrator = "", double step = 1e-3) {
  SimulateOptions options;
  options.time = time;
  options.step = step;
  options.integrator = integrator;
  return options;
}

double last(const SimulateResult& r, const std::string& name) {
  return r.trajectory.at(r.trajectory.samples() - 1, r.trajectory.find(name));
}

// m g = μ tanh(v / v₀)
TEST(SpatialStiff, AWeightHeldByFrictionCreeps) {
  const double creep = -1e-3 * std::atanh(kGravity / 20);
  const auto r = simulate_spatial(slider(20), options_of(1));
  ASSERT_TRUE(r) << r.failure().to_string();
  EXPECT_EQ(r->summary.integrator, "implicit-midpoint");
  EXPECT_EQ(r->summary.integrator_reason, "because friction of joint 'j' is stiff for this step");
  EXPECT_NEAR(last(*r, "j.v"), creep, 1e-9);
  EXPECT_NEAR(last(*r, "j.q"), creep, 2e-3 * std::abs(creep));
}

TEST(SpatialStiff, FrictionBringsAFastMotionToRest) {
  Model model = slider(20);
  model.robot.gravity.setZero();
  model.robot.joints[0].initial_v = {1};
  const auto r = simulate_spatial(model, options_of(0.2));
  ASSERT_TRUE(r) << r.failure().to_string();
  EXPECT_NEAR(last(*r, "j.q"), 1.0 / 40, 2e-4);  // v²/(2 μ/m), and what the smooth start of friction adds
  EXPECT_LT(std::abs(last(*r, "j.v")), 1e-6);
}

// d ω = m g l cos q: inertia is nothing beside the damping.
TEST(SpatialStiff, AStronglyDampedPendulumSinks) {
  for (const double damping : {200, 2000}) {
    for (const std::string integrator : {"", "implicit-midpoint"}) {
      const auto r = simulate_spatial(pendulum(damping), options_of(2, integrator));
      ASSERT_TRUE(r) << r.failure().to_string();
      EXPECT_EQ(r->summary.integrator, damping > 1000 ? "implicit-midpoint" : integrator.empty() ? "rk4" : integrator);
      const double sink = 2 * kGravity * 0.5 / damping;
      EXPECT_NEAR(last(*r, "j.q"), std::atan(std::sinh(2 * sink)), 2e-3 * 2 * sink);
      EXPECT_NEAR(last(*r, "j.v"), sink * std::cos(last(*r, "j.q")), 1e-4 * sink);
      EXPECT_LT(r->summary.energy_error, 1e-6);
    }
  }
}

TEST(SpatialStiff, AnExplicitIntegratorIsWarnedOfByTheJoint) {
  const std::string told =
      "damping of joint 'j' is too stiff for rk4 with a step of 0.001 s: implicit-midpoint can follow it";
  const auto near = simulate_spatial(pendulum(700), options_of(0.1, "rk4"));
  ASSERT_TRUE(near) << near.failure().to_string();
  ASSERT_FALSE(near->summary.warnings.empty());
  EXPECT_EQ(near->summary.warnings[0], told);
  const auto far = simulate_spatial(pendulum(20000), options_of(1, "heun"));
  ASSERT_FALSE(far);
  EXPECT_NE(far.failure().to_string().find("is too stiff for heun"), std::string::npos) << far.failure().to_string();
}

TEST(SpatialStiff, OrdinaryDampingKeepsTheDefault) {
  const auto r = simulate_spatial(pendulum(0.5), options_of(0.1));
  ASSERT_TRUE(r) << r.failure().to_string();
  EXPECT_EQ(r->summary.integrator, "rk4");
  EXPECT_EQ(r->summary.integrator_reason, "");
  EXPECT_TRUE(r->summary.warnings.empty());
}

TEST(SpatialStiff, ImplicitMidpointKeepsItsOrderWithFrictionAndDamping) {
  Model model = one_joint(JointType::revolute, Vector3d::UnitY(), 2, 0.5, {0.8, 1e-3, 3, 0.2, 0.1});
  model.robot.joints[0].initial_v = {2};
  const auto q = [&](const char* integrator, double step) {
    const auto r = simulate_spatial(model, options_of(0.2, integrator, step));
    EXPECT_TRUE(r) << r.failure().to_string();
    return r ? last(*r, "j.q") : 0;
  };
  const double exact = q("dopri5", 1e-4);
  EXPECT_NEAR((q("implicit-midpoint", 0.01) - exact) / (q("implicit-midpoint", 0.005) - exact), 4, 0.4);
}

TEST(SpatialStiff, TheLastStepIsShortenedToEndInTime) {
  const auto r = simulate_spatial(pendulum(0), options_of(0.1, "rk4", 0.03));
  ASSERT_TRUE(r) << r.failure().to_string();
  EXPECT_EQ(r->summary.steps, 4);
  EXPECT_DOUBLE_EQ(r->summary.time, 0.1);
  const auto exact = simulate_spatial(pendulum(0), options_of(0.1, "rk4", 0.001));
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->summary.steps, 100);
  EXPECT_NEAR(last(*r, "j.q"), last(*exact, "j.q"), 1e-6);
  const auto brief = simulate_spatial(pendulum(0), options_of(0.0004));
  ASSERT_TRUE(brief);
  EXPECT_DOUBLE_EQ(brief->summary.time, 0.0004);
}

}  // namespace
}  // namespace kinegraph::task::spatial_stiff_test
