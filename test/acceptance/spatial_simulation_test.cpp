// simulate on robots from files: order, conserved quantities, closed loops, no allocation.
#include <Eigen/Core>
#include <cmath>

#include "kinegraph/linear/allocations_test.hpp"
#include "kinegraph/task/spatial_field.hpp"
#include "kinegraph/task/spatial_start.hpp"
#include "test/acceptance/fourbar_reference.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::spatial_simulation_test {
namespace {

using task::SimulateOptions;
using task::SimulateResult;

Model robot(const std::string& file, const ReadOptions& how = {}) {
  const Result<Model> model = read_model(source_file("models/" + file), how);
  EXPECT_TRUE(model) << model.failure().to_string();
  return model ? *model : Model{};
}

SimulateResult simulated(const Model& model, double time, double step, const std::string& integrator = "rk4",
                         int every = 1) {
  SimulateOptions options;
  options.formulation = "screw";
  options.time = time;
  options.step = step;
  options.integrator = integrator;
  options.every = every;
  return run(model, options);
}

/// All q and v of the last sample.
Eigen::VectorXd final_state(const SimulateResult& result) {
  const Trajectory& t = result.trajectory;
  std::vector<double> numbers;
  for (int s = 0; s < t.series(); ++s) {
    const std::string& name = t.names()[s];
    if (name.ends_with(".q") || name.ends_with(".v")) numbers.push_back(t.at(t.samples() - 1, s));
  }
  return Eigen::Map<Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

/// Error at the end with step h over that with h/2.
double error_ratio(const Model& model, double time, double step, const std::string& integrator,
                   const Eigen::VectorXd& exact) {
  const double coarse = (final_state(simulated(model, time, step, integrator)) - exact).norm();
  return coarse / (final_state(simulated(model, time, step / 2, integrator)) - exact).norm();
}

TEST(SpatialSimulation, AFreeDoublePendulumKeepsItsEnergyToOrder) {
  const Model model = robot("double_pendulum.urdf");
  const Eigen::VectorXd exact = final_state(simulated(model, 1, 1e-4, "dopri5", 1000));
  EXPECT_NEAR(error_ratio(model, 1, 4e-3, "rk4", exact), 16, 3);
  EXPECT_NEAR(error_ratio(model, 1, 8e-3, "dopri5", exact), 32, 6);
  const double rk4 = simulated(model, 1, 4e-3).summary.energy_error,
               finer = simulated(model, 1, 2e-3).summary.energy_error;
  EXPECT_GT(rk4 / finer, 13);
  const SimulateResult standard = simulated(model, 5, 1e-3, "rk4", 1000);
  EXPECT_LT(standard.summary.energy_drift, 1e-7);
  EXPECT_TRUE(standard.summary.warnings.empty());
  EXPECT_EQ(standard.summary.degrees_of_freedom, 2);
}

TEST(SpatialSimulation, AFloatingQuadrupedKeepsItsMomentum) {
  ReadOptions how;
  how.base = Robot::Base::floating;
  Model model = robot("quadruped.urdf", how);
  double rate = 1;
  for (Joint& joint : model.robot.joints) {
    if (joint.type == JointType::fixed) continue;
    joint.initial_v = {rate = -0.8 * rate};
    joint.dynamics.clear();
  }
  const SimulateResult coarse = simulated(model, 0.4, 2e-3), fine = simulated(model, 0.4, 1e-3);
  ASSERT_TRUE(fine.summary.floating);
  EXPECT_LT(fine.summary.energy_drift, 1e-6);
  EXPECT_LT(fine.summary.momentum_error, 1e-6);
  EXPECT_LT(fine.summary.angular_momentum_error, 1e-6);
  EXPECT_GT(coarse.summary.energy_error / fine.summary.energy_error, 12);
  EXPECT_GT(coarse.summary.angular_momentum_error / fine.summary.angular_momentum_error, 12);
}

TEST(SpatialSimulation, TheFourBarInSpaceIsThatOfThePlane) {
  const Model model = own_model("fourbar");
  const SimulateResult found = simulated(model, 5, 1e-3);
  EXPECT_EQ(found.summary.loops, 1);
  EXPECT_EQ(found.summary.degrees_of_freedom, 1);
  EXPECT_EQ(found.summary.redundant_constraints, 3);
  EXPECT_LT(found.summary.closure_m, 1e-12);
  EXPECT_LT(found.summary.closure_rad, 1e-12);
  EXPECT_LT(found.summary.energy_drift, 1e-9);
  const Trajectory exact = FourbarReference{}.motion(5, 1e-3, 0, 0);
  for (const char* name : {"P1.x", "P1.y", "P2.x", "P2.y", "theta.q"}) {
    EXPECT_LT(largest_difference(found.trajectory, exact, name), 1e-9) << name;
  }
  for (const char* name : {"P1.vx", "P1.vy", "P2.vx", "P2.vy", "theta.v"}) {
    EXPECT_LT(largest_difference(found.trajectory, exact, name), 5e-9) << name;
  }
  EXPECT_LT(largest_difference(found.trajectory, exact, "theta.a"), 5e-8);
  SimulateOptions planar;  // accelerations of points: as the planar formulation has them
  planar.time = 5;
  const SimulateResult plane = run(model, planar);
  for (const char* name : {"P1.ax", "P1.ay", "P2.ax", "P2.ay"}) {
    EXPECT_LT(largest_difference(found.trajectory, plane.trajectory, name), 1e-7) << name;
  }
}

TEST(SpatialSimulation, TheProjectionKeepsTheOrder) {
  const Model model = own_model("fourbar");
  const Eigen::VectorXd exact = final_state(simulated(model, 0.5, 1e-4, "dopri5", 1000));
  EXPECT_NEAR(error_ratio(model, 0.5, 5e-3, "rk4", exact), 16, 2);
  EXPECT_GT(error_ratio(model, 0.5, 5e-3, "dopri5", exact), 20);  // 25 here: rounding comes before 32 does
  EXPECT_NEAR(error_ratio(model, 0.5, 5e-3, "midpoint", exact), 4, 0.5);
}

TEST(SpatialSimulation, FollowsTheExactFourBar) {
  const auto exact = shared_table("fourbar_exact.csv");
  if (!exact) GTEST_SKIP() << "no reference data";
  const SimulateResult found = simulated(own_model("fourbar"), exact->times().back(), 1e-3);
  EXPECT_LT(rmse(found.trajectory, *exact, {"P1.x", "P1.y", "P2.x", "P2.y"}, {"x1", "y1", "x2", "y2"}), 1e-9);
  EXPECT_LT(rmse(found.trajectory, *exact, {"P1.vx", "P1.vy", "P2.vx", "P2.vy"}, {"dx1", "dy1", "dx2", "dy2"}), 1e-9);
}

TEST(SpatialSimulation, AFiveBarSwingsAndStaysClosed) {
  Model model = robot("five_bar.urdf");
  for (Joint& joint : model.robot.joints) joint.dynamics.clear();
  const Eigen::VectorXd exact = final_state(simulated(model, 0.3, 5e-5, "dopri5", 1000));
  EXPECT_NEAR(error_ratio(model, 0.3, 4e-3, "rk4", exact), 16, 4);
  const SimulateResult found = simulated(model, 0.3, 1e-3);
  EXPECT_EQ(found.summary.degrees_of_freedom, 2);
  EXPECT_LT(found.summary.closure_m, 1e-12);
  EXPECT_LT(found.summary.energy_drift, 1e-7);
}

TEST(SpatialSimulation, AnOverconstrainedLoopMoves) {
  Model model = robot("bennett.sdf");
  for (Joint& joint : model.robot.joints) joint.dynamics.clear();
  const SimulateResult found = simulated(model, 1, 1e-3);
  EXPECT_EQ(found.summary.degrees_of_freedom, 1);
  EXPECT_EQ(found.summary.redundant_constraints, 3);
  EXPECT_LT(found.summary.closure_m, 1e-11);
  EXPECT_LT(found.summary.energy_drift, 1e-7);
  EXPECT_GT(found.summary.kinetic_max, 0.01);
  const Eigen::VectorXd exact = final_state(simulated(model, 0.5, 1e-4, "dopri5", 1000));
  EXPECT_NEAR(error_ratio(model, 0.5, 1e-2, "rk4", exact), 16, 4);
}

TEST(SpatialSimulation, StepsAllocateNothing) {
  if (!linear::test::allocations_are_counted()) GTEST_SKIP() << "allocations are not counted here";
  for (const std::string file : {"double_pendulum.urdf", "five_bar.urdf"}) {
    const Model model = robot(file);
    const auto start = task::make_spatial_start(model);
    ASSERT_TRUE(start);
    const auto drive = task::SpatialDrive::make(model, *start->tree, std::nullopt, 1);
    ASSERT_TRUE(drive);
    task::SpatialField field(start->tree, start->mobility.freedoms, *drive);
    step::LieStepper stepper(start->tree, field, *step::find_scheme("rk4"));
    ASSERT_TRUE(stepper.start(0, start->q.data(), start->v.data()));
    ASSERT_TRUE(stepper.advance(1e-3));
    const long before = linear::test::allocations();
    for (int k = 0; k < 100; ++k) ASSERT_TRUE(stepper.advance(1e-3));
    EXPECT_EQ(linear::test::allocations() - before, 0) << file;
  }
}

}  // namespace
}  // namespace kinegraph::acceptance::spatial_simulation_test
