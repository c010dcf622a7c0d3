#include "kinegraph/task/spatial_simulate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::task::spatial_simulate_test {
namespace {

Link link(const std::string& name, double mass, const Vector3d& com, const Vector3d& inertia) {
  Link l;
  l.name = name;
  l.has_inertia = true;
  l.inertia = {mass, com, inertia.asDiagonal()};
  return l;
}

Joint joint(const std::string& name, JointType type, int parent, int child, const Vector3d& axis,
            const Vector3d& at = Vector3d::Zero()) {
  Joint j;
  j.name = name;
  j.type = type;
  j.parent = LinkIndex(parent);
  j.child = LinkIndex(child);
  j.axis = axis;
  j.X_PF = SE3(SO3(), at);
  return j;
}

Model model_of(Robot robot) {
  Model model;
  model.robot = std::move(robot);
  return model;
}

Model pendulum(double damping = 0) {
  Robot robot;
  robot.links = {link("bob", 2, {0.5, 0, 0}, {0.01, 0.05, 0.05})};
  robot.joints = {joint("hinge", JointType::revolute, -1, 0, Vector3d::UnitY())};
  robot.joints[0].dynamics.resize(1);
  robot.joints[0].dynamics[0].damping = damping;
  return model_of(robot);
}

Model tumbling() {
  Robot robot;
  robot.base = Robot::Base::floating;
  robot.links = {link("brick", 3, {0.05, -0.02, 0.1}, {0.02, 0.05, 0.06})};
  robot.X_WL = {SE3()};
  return model_of(robot);
}

/// A slider with spring and damper.   m ẍ = −k (x − r) − d ẋ
Model oscillator() {
  Robot robot;
  robot.gravity.setZero();
  robot.links = {link("mass", 2, Vector3d::Zero(), {0.01, 0.01, 0.01})};
  robot.joints = {joint("slide", JointType::prismatic, -1, 0, Vector3d(1, 2, 2) / 3)};
  robot.joints[0].dynamics = {{1.2, 0, 50, 0.1, 0.5}};  // damping, friction, stiffness, rest, armature
  robot.joints[0].initial_q = {0.4};
  return model_of(robot);
}

SimulateResult run(const Model& model, double time, double step, const std::string& integrator = "rk4") {
  SimulateOptions options;
  options.time = time;
  options.step = step;
  options.integrator = integrator;
  options.every = 1000000;
  auto result = simulate_spatial(model, options);
  EXPECT_TRUE(result) << result.failure().to_string();
  return result ? *std::move(result) : SimulateResult{};
}

double last(const SimulateResult& r, const std::string& name) {
  const int series = r.trajectory.find(name);
  EXPECT_GE(series, 0) << name;
  return series < 0 ? 0 : r.trajectory.at(r.trajectory.samples() - 1, series);
}

TEST(SpatialSimulate, ADampedOscillatorFollowsItsClosedForm) {
  const double m = 2.5, k = 50, d = 1.2, w = std::sqrt(k / m), z = d / (2 * std::sqrt(k * m)),
               wd = w * std::sqrt(1 - z * z), t = 1;
  const double decay = 0.3 * std::exp(-z * w * t);
  const double q = 0.1 + decay * (std::cos(wd * t) + z * w / wd * std::sin(wd * t));
  const double v = -decay * w * w / wd * std::sin(wd * t);
  const auto error = [&](const char* method, double h) {
    const SimulateResult r = run(oscillator(), t, h, method);
    return std::hypot(last(r, "slide.q") - q, (last(r, "slide.v") - v) / w);
  };
  for (const auto& [method, order] : {std::pair("midpoint", 2), {"rk4", 4}, {"dopri5", 5}, {"implicit-midpoint", 2}}) {
    const double ratio = error(method, 0.02) / error(method, 0.01);
    EXPECT_NEAR(ratio, std::pow(2, order), 0.2 * std::pow(2, order)) << method;
  }
  const SimulateResult fine = run(oscillator(), t, 1e-3);
  EXPECT_LT(fine.summary.energy_drift, 1e-9);  // the damper's work is accounted for
  EXPECT_LT(fine.summary.work, -0.1);
}

TEST(SpatialSimulate, AFallingBodyTumblesAndKeepsWhatItMust) {
  Model model = tumbling();
  const auto errors = [&](const char* method, double h) {
    SimulateOptions options;
    options.time = 1;
    options.step = h;
    options.integrator = method;
    options.poses = true;
    Model spun = model;
    spun.robot.joints = {joint("fly", JointType::floating, -1, 0, Vector3d::UnitX())};
    spun.robot.joints[0].initial_v = {0.01, 8, 0.01, 0.3, -0.2, 2};  // about the middle axis
    auto result = simulate(spun, options);
    EXPECT_TRUE(result) << result.failure().to_string();
    return *std::move(result);
  };
  const SimulateResult coarse = errors("rk4", 4e-3), fine = errors("rk4", 2e-3);
  EXPECT_NEAR(coarse.summary.energy_error / fine.summary.energy_error, 16, 5);
  EXPECT_NEAR(coarse.summary.angular_momentum_error / fine.summary.angular_momentum_error, 16, 5);
  EXPECT_TRUE(fine.summary.floating);
  EXPECT_LT(fine.summary.momentum_error, 1e-6);
  EXPECT_LT(errors("rk4", 1e-3).summary.energy_drift, 1e-8);
  EXPECT_LT(errors("dopri5", 2e-3).summary.energy_drift, 1e-9);

  // The centre of mass flies along a parabola.
  const Vector3d com(0.05, -0.02, 0.1), omega(0.01, 8, 0.01);
  const Vector3d start = Vector3d(0.3, -0.2, 2) + omega.cross(com);
  const Vector3d exact = com + start + 0.5 * Vector3d(0, 0, -kGravity);
  const auto at_end = [&](const SimulateResult& r) {
    const double q[] = {last(r, "fly.qw"), last(r, "fly.qx"), last(r, "fly.qy"), last(r, "fly.qz"),
                        last(r, "fly.x"),  last(r, "fly.y"),  last(r, "fly.z")};
    EXPECT_NEAR(last(r, "brick.x"), q[4], 1e-12);
    return Vector3d(SE3::load(q) * com);
  };
  const double far = (at_end(coarse) - exact).norm(), near = (at_end(fine) - exact).norm();
  EXPECT_NEAR(far / near, 16, 5);
  EXPECT_LT(near, 1e-7);
}

TEST(SpatialSimulate, TheAddedBaseFallsFreely) {
  const SimulateResult r = run(tumbling(), 0.5, 1e-2);
  EXPECT_NEAR(last(r, "base.z"), -0.5 * kGravity * 0.25, 1e-12);
  EXPECT_NEAR(last(r, "base.az"), -kGravity, 1e-12);
  EXPECT_LT(r.summary.momentum_error, 1e-12);
}

TEST(SpatialSimulate, ASphericalPendulumKeepsEnergyAndVerticalMomentumToOrder) {
  Robot robot;
  robot.links = {link("bob", 2, {0.5, 0, 0}, {0.01, 0.05, 0.05})};
  robot.joints = {joint("ball", JointType::ball, -1, 0, Vector3d::UnitX())};
  robot.joints[0].initial_v = {1, 0.5, 3};
  const Model model = model_of(robot);
  const auto q = [&](const char* method, double h) {
    const SimulateResult r = run(model, 1, h, method);
    const double stored[] = {last(r, "ball.qw"), last(r, "ball.qx"), last(r, "ball.qy"), last(r, "ball.qz")};
    return SO3::load(stored);
  };
  const SO3 exact = q("dopri5", 2e-4);
  const auto error = [&](const char* method, double h) { return (exact.inverse() * q(method, h)).log().norm(); };
  EXPECT_NEAR(error("rk4", 0.01) / error("rk4", 0.005), 16, 3);
  EXPECT_NEAR(error("dopri5", 0.02) / error("dopri5", 0.01), 32, 8);
  const double drift = run(model, 1, 0.01).summary.energy_error;
  EXPECT_NEAR(drift / run(model, 1, 0.005).summary.energy_error, 16, 14);
  EXPECT_LT(run(model, 2, 1e-3).summary.energy_drift, 1e-9);
}

TEST(SpatialSimulate, SymplecticEulerAndImplicitMidpointDoNotDrift) {
  const SimulateResult shorter = run(pendulum(), 5, 5e-3, "symplectic-euler"),
                       longer = run(pendulum(), 50, 5e-3, "symplectic-euler");
  EXPECT_LT(longer.summary.energy_error, 1.5 * shorter.summary.energy_error);
  EXPECT_LT(run(pendulum(), 50, 5e-3, "implicit-midpoint").summary.energy_drift, 1e-3);
  EXPECT_GT(run(pendulum(), 5, 5e-3, "euler").summary.energy_drift, 1e-2);
}

TEST(SpatialSimulate, TellsTheWorkOfInputsAndLoads) {
  Model model = pendulum(0.3);
  Trajectory input({"hinge.tau", "bob.load.fx", "bob.load.my"});
  for (int k = 0; k <= 100; ++k) {
    const double t = 0.01 * k;
    double* row = input.append(t);
    row[0] = 4 * std::sin(5 * t), row[1] = 2, row[2] = 1 - t;
  }
  SimulateOptions options;
  options.time = 1;
  options.input = input;
  options.reactions = true;
  const auto result = simulate(model, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_GT(std::abs(result->summary.work), 0.1);
  EXPECT_LT(result->summary.energy_drift, 1e-9);
  const Trajectory& found = result->trajectory;
  const int half = 500;
  EXPECT_NEAR(found.at(half, found.find("hinge.tau")), 4 * std::sin(2.5), 1e-12);
  // About the hinge, along y:   I θ̈ = τ + m_load + weight + damping;   a load at the hinge itself turns nothing.
  const double q = found.at(half, found.find("hinge.q")), v = found.at(half, found.find("hinge.v"));
  const double moment = 4 * std::sin(2.5) + 0.5 + 2 * kGravity * 0.5 * std::cos(q) - 0.3 * v;
  EXPECT_NEAR(found.at(half, found.find("hinge.a")), moment / (0.05 + 2 * 0.25), 1e-9);
  // Along the hinge it carries what the motor and the damper give.
  EXPECT_NEAR(found.at(half, found.find("hinge.reaction.my")), 4 * std::sin(2.5) - 0.3 * v, 1e-9);
  // Forces: m ẍ_com = load + weight + reaction.
  const double a = found.at(half, found.find("hinge.a"));
  const Vector3d r(0.5 * std::cos(q), 0, -0.5 * std::sin(q)), y = Vector3d::UnitY();
  const Vector3d acceleration = a * y.cross(r) + v * v * y.cross(y.cross(r));
  EXPECT_NEAR(found.at(half, found.find("hinge.reaction.fx")), 2 * acceleration.x() - 2, 1e-9);
  EXPECT_NEAR(found.at(half, found.find("hinge.reaction.fz")), 2 * acceleration.z() + 2 * kGravity, 1e-9);
}

TEST(SpatialSimulate, TellsPassedLimits) {
  Model model = pendulum();
  model.robot.joints[0].limits.resize(1);
  model.robot.joints[0].limits[0].upper = 1;
  model.robot.joints[0].limits[0].lower = -1;
  SimulateOptions options;
  options.time = 0.6;
  const auto r = simulate_spatial(model, options);
  ASSERT_TRUE(r);
  int beyond = 0;
  double most = 0;
  for (const double q : r->trajectory.column(r->trajectory.find("hinge.q"))) {
    beyond += std::abs(q) > 1;
    most = std::max(most, std::abs(q) - 1);
  }
  ASSERT_GT(beyond, 100);
  const std::string expected = fmt::format("hinge.q: in {} of 601 samples, by {:.3g} at most", beyond, most);
  EXPECT_EQ(r->summary.limits_exceeded, std::vector<std::string>{expected});
}

TEST(SpatialSimulate, WarnsOfADriftingEnergy) {
  EXPECT_TRUE(run(pendulum(), 1, 1e-3).summary.warnings.empty());
  const SimulateResult r = run(pendulum(), 5, 2e-2, "euler");
  ASSERT_EQ(r.summary.warnings.size(), 1u);
  EXPECT_NE(r.summary.warnings[0].find("take a smaller step than 0.02 s"), std::string::npos) << r.summary.warnings[0];
}

TEST(SpatialSimulate, StopsAMotionThatBlowsUp) {
  Model model = oscillator();
  model.robot.joints[0].dynamics[0].stiffness = 5e7;  // far beyond what the step can follow
  SimulateOptions options;
  options.time = 5;
  options.integrator = "heun";
  const auto result = simulate_spatial(model, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 1);
  const std::string message = result.failure().to_string();
  EXPECT_EQ(message.substr(0, 30), "error: no motion past t = 0.00") << message;
  EXPECT_NE(message.find("joint 'slide' would move by "), std::string::npos) << message;
  EXPECT_NE(message.find("; a smaller step may help"), std::string::npos) << message;

  options.integrator = "";  // steps of order four are divided until they follow it
  options.time = 0.02;
  const auto divided = simulate_spatial(model, options);
  ASSERT_TRUE(divided) << divided.failure().to_string();
  EXPECT_EQ(divided->summary.divided_steps, 20);
  EXPECT_LT(divided->summary.energy_drift, 20 * 1e-4);
}

TEST(SpatialSimulate, RefusesWhatDoesNotApply) {
  SimulateOptions options;
  options.step = 0;
  options.formulation = "independent";
  options.method = "batch";
  options.weights = "soft";
  options.window = 10;
  options.integrator = "rk5";
  options.soft_scale["dynamics"] = 2;
  const auto result = simulate_spatial(pendulum(), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 2);
  EXPECT_EQ(result.failure().to_string(),
            "error: step: must be > 0, is 0\n"
            "error: integrator: must be one of euler, midpoint, heun, rk4, dopri5, symplectic-euler, "
            "implicit-midpoint, is 'rk5'; did you mean 'rk4'?\n"
            "error: formulation: must be screw or maximal for spatial models, is independent\n"
            "error: method: must be step for spatial models, is batch\n"
            "error: weights: must be hard for spatial models, is soft\n"
            "error: window: has no meaning for spatial models, leave it out, is 10\n"
            "error: soft-scale: has no meaning for spatial models, leave it out");
}

TEST(SpatialSimulate, RefusesAnInputThatDrivesNothing) {
  SimulateOptions options;
  options.time = 1;
  Trajectory input({"hinge.q"});
  *input.append(0.1) = 0;
  *input.append(0.5) = 0;
  options.input = input;
  auto result = simulate(pendulum(), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().to_string(),
            "error: no column drives anything; expected torques (hinge.tau, …) or loads (bob.load.fx, …)\n"
            "error: the recording starts at 0.1 s, after the simulation's 0 s\n"
            "error: the recording ends at 0.5 s, before the simulation's 1 s");
  options.input = Trajectory({"hinge.tua"});
  result = simulate(pendulum(), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 2);
  EXPECT_NE(result.failure().to_string().find("did you mean 'hinge.tau'?"), std::string::npos);
}

TEST(SpatialSimulate, StopsWhenTold) {
  SimulateOptions options;
  options.time = 100;
  options.progress = [](double) { return false; };
  const auto result = simulate(pendulum(), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 130);
}

}  // namespace
}  // namespace kinegraph::task::spatial_simulate_test
