#include "kinegraph/task/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/task/start.hpp"

namespace kinegraph::task::simulate_test {
namespace {

/// A chain of equal slender bars, hung horizontally.
Model pendulums(int count) {
  Model m;
  m.points.push_back({"O", {0, 0}, {0, 0}, true, {}});
  for (int i = 1; i <= count; ++i) {
    m.points.push_back({"P" + std::to_string(i), {0.2 * i, 0}, {0, 0}, false, {}});
    PlanarBody b;
    b.name = "bar" + std::to_string(i);
    b.points = {PointIndex(i - 1), PointIndex(i)};
    b.local = {{0, 0}, {0.2, 0}};
    b.length = 0.2;
    b.mass = 0.5;
    b.inertia = b.mass * b.length * b.length / 3;
    b.cog = {0.1, 0};
    m.bodies.push_back(b);
  }
  return m;
}

double worst_difference(const Trajectory& a, const Trajectory& b, int series) {
  double most = 0;
  for (int k = 0; k < a.samples(); ++k) most = std::max(most, std::abs(a.at(k, series) - b.at(k, series)));
  return most;
}

TEST(Simulate, ManyDegreesOfFreedomAreOneSparseSystem) {
  const Model model = pendulums(25);  // 50 free columns: beyond the dense blocks
  SimulateOptions options;
  options.time = 0.2;
  const auto graph = simulate(model, options);
  ASSERT_TRUE(graph) << graph.failure().to_string();
  options.method = "step";
  options.step = 1e-4;
  options.every = 10;
  const auto reference = simulate(model, options);
  ASSERT_TRUE(reference);
  EXPECT_EQ(graph->summary.degrees_of_freedom, 25);
  EXPECT_LT(graph->summary.constraint_max, 1e-12);
  EXPECT_LT(graph->summary.energy_drift, 1e-8);
  for (int s : {0, 1, 6 * 24, 6 * 24 + 1}) {
    EXPECT_LT(worst_difference(graph->trajectory, reference->trajectory, s), 1e-8) << graph->trajectory.names()[s];
  }
}

TEST(Simulate, RefusesBadOptionsAllAtOnce) {
  SimulateOptions options;
  options.step = -0.001;
  options.window = 1;
  options.formulation = "naturel";
  options.soft_scale["dynamic"] = 0;
  const auto result = simulate(pendulums(1), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 2);
  EXPECT_EQ(
      result.failure().to_string(),
      "error: step: must be > 0, is -0.001\n"
      "error: window: must be >= 2, is 1\n"
      "error: formulation: must be one of natural, independent, screw, maximal, is 'naturel'; did you mean 'natural'?\n"
      "error: soft-scale: must be one of prior, integrator, dynamics, constraint, equality, is 'dynamic'; did you "
      "mean 'dynamics'?\n"
      "error: soft-scale dynamic: must be > 0, is 0");
}

TEST(Simulate, StopsWhenTold) {
  SimulateOptions options;
  options.time = 100;
  options.progress = [](double) { return false; };
  const auto result = simulate(pendulums(1), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().exit_status(), 130);
}

TEST(Simulate, StreamsWithoutKeeping) {
  SimulateOptions options;
  options.time = 0.1;
  options.every = 10;
  options.keep = false;
  int samples = 0;
  std::vector<std::string> names;
  options.begin = [&](const std::vector<std::string>& n) { names = n; };
  options.sample = [&](double, const double*) { ++samples; };
  const auto result = simulate(pendulums(1), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(samples, 11);
  EXPECT_EQ(names.front(), "P1.x");
  EXPECT_EQ(result->trajectory.samples(), 0);
}

TEST(Simulate, RecordedTorqueDrivesAMotor) {
  Model model = pendulums(1);
  model.gravity = {0, 0};
  RelativeCoordinate theta;
  theta.name = "theta";
  theta.points = {PointIndex(0), PointIndex(1)};
  model.relative.push_back(theta);
  model.motors.push_back({"motor", RelativeIndex(0), Law(0), 1, 0, {}});
  Trajectory input({"motor.tau"});
  *input.append(0) = 0.02;
  *input.append(1) = 0.02;
  SimulateOptions options;
  options.time = 1;
  options.input = input;
  const auto result = simulate(model, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  const double alpha = 0.02 / (0.5 * 0.04 / 3);
  const int q = result->trajectory.find("theta.q");
  EXPECT_NEAR(result->trajectory.at(result->trajectory.samples() - 1, q), 0.5 * alpha, 1e-9);
  EXPECT_LT(result->summary.energy_drift, 1e-9);  // the motor's work is accounted for

  options.time = 2;
  const auto short_input = simulate(model, options);
  ASSERT_FALSE(short_input);
  EXPECT_EQ(short_input.failure().to_string(), "error: the recording ends at 1 s, before the simulation's 2 s");
}

TEST(Start, HeldAnglesAreReachedOnTheSameBranch) {
  Model model = pendulums(1);
  RelativeCoordinate theta;
  theta.name = "theta";
  theta.points = {PointIndex(0), PointIndex(1)};
  model.relative.push_back(theta);
  model.initial.push_back({{CoordinateRef::What::relative, 0}, false, 3.0, {}});
  const auto start = make_start(model);
  ASSERT_TRUE(start);
  EXPECT_NEAR(start->q[0], 0.2 * std::cos(3.0), 1e-12);
  EXPECT_NEAR(start->q[1], 0.2 * std::sin(3.0), 1e-12);
}

}  // namespace
}  // namespace kinegraph::task::simulate_test
