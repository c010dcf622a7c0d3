#include "kinegraph/task/maximal_simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/task/linkages_test.hpp"
#include "kinegraph/task/sensed_simulation.hpp"

namespace kinegraph::task::maximal_simulate_test {
namespace {

/// Crank, coupler and rocker; the crank's angle is `theta`.
Model fourbar() {
  Model m;
  m.points = {{"A", {0, 0}, {0, 0}, true, {}},
              {"P", {1, 0}, {0, 0}, false, {}},
              {"Q", {1, 2}, {0, 0}, false, {}},
              {"B", {4, 0}, {0, 0}, true, {}}};
  const auto bar = [&](const char* name, int a, int b, double mass) {
    PlanarBody body;
    body.name = name;
    body.points = {PointIndex(a), PointIndex(b)};
    body.length = (m.points[b].position - m.points[a].position).norm();
    body.local = {{0, 0}, {body.length, 0}};
    body.mass = mass;
    body.inertia = mass * body.length * body.length / 3;
    body.cog = {body.length / 2, 0};
    m.bodies.push_back(body);
  };
  bar("crank", 0, 1, 1), bar("coupler", 1, 2, 2), bar("rocker", 2, 3, 4);
  m.relative.push_back({"theta", RelativeCoordinate::Type::absolute_angle, {PointIndex(0), PointIndex(1)}, {}});
  return m;
}

Motor motor(double gain = 1) {
  Motor m;
  m.name = "motor";
  m.coordinate = RelativeIndex(0);
  m.gain = gain;
  return m;
}

SimulateOptions maximal(double time, double step = 1e-3) {
  SimulateOptions options;
  options.formulation = "maximal";
  options.time = time;
  options.step = step;
  options.compliance = 1e-10;
  return options;
}

double largest(const Trajectory& a, const Trajectory& b, const std::string& name) {
  double most = 0;
  const int i = a.find(name), j = b.find(name);
  EXPECT_TRUE(i >= 0 && j >= 0) << name;
  for (int k = 0; k < std::min(a.samples(), b.samples()); ++k) most = std::max(most, std::abs(a.at(k, i) - b.at(k, j)));
  return most;
}

/// Equal columns, equal motion; the error falls with the square of the step.
TEST(SimulateMaximal, AFourBarMovesAsInNaturalCoordinates) {
  Model model = fourbar();
  model.motors = {motor()};
  SimulateOptions options = maximal(1, 2e-3);
  options.reactions = true;
  SimulateOptions exact = options;
  exact.formulation = "natural";
  const auto reference = simulate(model, exact);
  ASSERT_TRUE(reference);
  double last = 0;
  for (const double step : {2e-3, 1e-3, 5e-4}) {
    options.step = step;
    options.every = static_cast<int>(std::lround(2e-3 / step));
    const auto found = simulate(model, options);
    ASSERT_TRUE(found) << found.failure().to_string();
    EXPECT_EQ(found->trajectory.names(), reference->trajectory.names());
    EXPECT_EQ(found->summary.degrees_of_freedom, 1);
    const double error = largest(found->trajectory, reference->trajectory, "theta.q");
    if (last > 0) {
      EXPECT_LT(error, 0.4 * last) << step;
    }
    last = error;
    if (step > 5e-4) continue;
    EXPECT_LT(error, 1e-4);
    EXPECT_LT(largest(found->trajectory, reference->trajectory, "Q.vx"), 1e-3);
    EXPECT_LT(largest(found->trajectory, reference->trajectory, "theta.a"), 0.05);
    EXPECT_LT(largest(found->trajectory, reference->trajectory, "P.fx"), 0.3);  // of 100 N
    EXPECT_LT(largest(found->trajectory, reference->trajectory, "A.fy"), 0.3);
    EXPECT_LT(found->summary.energy_drift, 1e-4);
  }
}

TEST(SimulateMaximal, ADrivenCrankFollowsItsLaw) {
  Model model = fourbar();
  model.drivers.push_back({"drive", {CoordinateRef::What::relative, 0}, Law(), {}});
  auto law = std::make_shared<Recording>();
  law->times = {0, 10}, law->values = {0, 30};  // 3 rad/s: nearly five turns
  model.drivers[0].law = Law(std::shared_ptr<const Recording>(law));
  const auto found = simulate(model, maximal(4));
  ASSERT_TRUE(found) << found.failure().to_string();
  const Trajectory& t = found->trajectory;
  const int q = t.find("theta.q"), v = t.find("theta.v");
  for (int k = 0; k < t.samples(); k += 100) {
    EXPECT_NEAR(t.at(k, q), 3 * t.times()[k], 1e-5);
    EXPECT_NEAR(t.at(k, v), 3, 1e-2);
  }
  EXPECT_EQ(found->summary.degrees_of_freedom, 0);
}

TEST(SimulateMaximal, AnArmMovesAsInTheScrewFormulation) {
  Model model = linkages::model_of(linkages::seven_joint_arm());
  for (Link& link : model.robot.links) link.inertia.com = {0.02, 0.03, 0.1};
  for (Joint& joint : model.robot.joints) {
    joint.dynamics.resize(1);
    joint.dynamics[0].damping = 0.5;
    joint.initial_q = {0.3}, joint.initial_v = {-0.2};
  }
  SimulateOptions options = maximal(0.5, 5e-4);
  options.poses = options.reactions = true;
  SimulateOptions exact = options;
  exact.formulation = "screw";
  const auto found = simulate(model, options), reference = simulate(model, exact);
  ASSERT_TRUE(found) << found.failure().to_string();
  ASSERT_TRUE(reference) << reference.failure().to_string();
  EXPECT_EQ(found->trajectory.names(), reference->trajectory.names());
  for (const std::string& name : found->trajectory.names()) {
    const double tolerance = name.ends_with(".a") || name.find("reaction") != std::string::npos ? 0.5 : 0.01;
    EXPECT_LT(largest(found->trajectory, reference->trajectory, name), tolerance) << name;
  }
}

TEST(SimulateMaximal, ControlsAreGainTimes) {
  Model model = fourbar();
  model.motors = {motor(2.5)};
  Trajectory control({"motor.u"}), torque({"motor.tau"});
  for (int k = 0; k <= 10; ++k) {
    *control.append(0.1 * k) = std::sin(k);
    *torque.append(0.1 * k) = 2.5 * std::sin(k);
  }
  SimulateOptions options = maximal(1), other = options;
  options.input = control, other.input = torque;
  const auto a = simulate(model, options), b = simulate(model, other);
  ASSERT_TRUE(a) << a.failure().to_string();
  ASSERT_TRUE(b);
  for (const std::string& name : a->trajectory.names()) {
    EXPECT_LT(largest(a->trajectory, b->trajectory, name), 1e-9) << name;
  }
  other.formulation = "natural";
  other.input = control;
  const auto natural = simulate(model, other);
  ASSERT_TRUE(natural);
  EXPECT_LT(largest(a->trajectory, natural->trajectory, "theta.q"), 1e-2);
}

TEST(SimulateMaximal, RefusesWhatDrivesNothing) {
  Model model = fourbar();
  model.motors = {motor()};
  SimulateOptions options = maximal(1);
  options.input = Trajectory({"moto.u"});
  *options.input->append(0) = 1;
  *options.input->append(1) = 1;
  const auto found = simulate(model, options);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.failure().diagnostics[0].message,
            "column 'moto.u' drives nothing; expected motor.tau, motor.u; did you mean 'motor.u'?");
  options.input = Trajectory({"motor.u", "motor.tau"});
  for (const double t : {0.0, 1.0}) options.input->append(t)[0] = 0;
  const auto both = simulate(model, options);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.failure().diagnostics[0].message, "'motor.tau' and 'motor.u' drive the same motor");
  options.input.reset();
  options.compliance = 0;
  options.integrator = "rk4";
  const auto bad = simulate(model, options);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.failure().to_string(),
            "error: compliance: must be > 0, is 0\n"
            "error: integrator: has no meaning with formulation maximal, leave it out, is rk4");
}

/// A pendulum with dry friction comes to rest off the vertical, and stays.
TEST(SimulateMaximal, DryFrictionHolds) {
  Robot robot;
  const int rod = linkages::add_link(robot, "rod");
  robot.links[rod].inertia.com = {0.5, 0, 0};
  Joint& hinge = linkages::add_joint(robot, "hinge", JointType::revolute, -1, rod, SE3(), Vector3d::UnitY());
  hinge.dynamics.resize(1);
  hinge.dynamics[0].friction = 2;
  hinge.initial_q = {1.0};
  Model model = linkages::model_of(robot);
  EXPECT_EQ(needs_maximal(model), "");
  const auto found = simulate(model, maximal(5));
  ASSERT_TRUE(found) << found.failure().to_string();
  EXPECT_GT(found->summary.held_steps, 1000);
  const Trajectory& t = found->trajectory;
  EXPECT_LT(std::abs(t.at(t.samples() - 1, t.find("hinge.v"))), 1e-9);
  EXPECT_LT(std::abs(t.at(t.samples() - 1, t.find("hinge.q")) - t.at(t.samples() - 1000, t.find("hinge.q"))), 1e-9);
  EXPECT_LT(found->summary.energy_drift, 1e-3);
  model.robot.joints[0].dynamics[0].stribeck = 1;
  EXPECT_EQ(needs_maximal(model), "because of stribeck in joint 'hinge'");
}

TEST(SimulateMaximal, SensorsReadWhatTheMotionSays) {
  Model model = fourbar();
  Sensor encoder;
  encoder.type = SensorType::encoder;
  encoder.name = "crank";
  encoder.coordinate = 0;
  encoder.rate = 250;
  encoder.channels.resize(1);
  encoder.channels[0].name = "crank.q";
  model.sensors = {encoder};
  const auto found = simulate_sensed(model, {maximal(1), true, false, 1});
  ASSERT_TRUE(found) << found.failure().to_string();
  ASSERT_EQ(found->readings.samples(), 251);
  const Trajectory& t = found->motion.trajectory;
  for (int k = 0; k <= 250; ++k) {
    EXPECT_NEAR(found->readings.times()[k], t.times()[4 * k], 1e-12);
    EXPECT_NEAR(found->readings.at(k, 0), t.at(4 * k, t.find("theta.q")), 1e-6);  // joints give way
  }
  const auto disturbed = simulate_sensed(model, {maximal(1), true, true, 1});
  ASSERT_FALSE(disturbed);
  EXPECT_EQ(disturbed.failure().diagnostics[0].message,
            "disturbed: formulation must be natural or screw, is 'maximal'");
}

TEST(SimulateMaximal, MeansOfRecordingsAreExact) {
  Trajectory table({"u"});
  const double times[] = {0, 1, 1.5, 4}, values[] = {1, 3, -1, 0};
  for (int k = 0; k < 4; ++k) *table.append(times[k]) = values[k];
  const MeanLaw law(table, 0, 2);
  EXPECT_NEAR(law(0.5), 4, 1e-15);
  EXPECT_NEAR(law.mean(0, 1), 4, 1e-14);
  EXPECT_NEAR(law.mean(0.5, 1.5), (2.5 + 1) * 1.0, 1e-14);
  EXPECT_NEAR(law.mean(-1, 1), (2 + 4) / 2.0, 1e-14);
  EXPECT_NEAR(law.mean(5, 7), 0, 1e-14);
}

}  // namespace
}  // namespace kinegraph::task::maximal_simulate_test
