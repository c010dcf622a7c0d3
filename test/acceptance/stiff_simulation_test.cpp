// simulate on robots whose joints are damped so strongly that explicit steps are not stable.
#include <cmath>

#include "kinegraph/linear/allocations_test.hpp"
#include "kinegraph/task/spatial_field.hpp"
#include "kinegraph/task/spatial_start.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::stiff_simulation_test {
namespace {

using task::SimulateOptions;
using task::SimulateResult;

SimulateResult simulated(const Model& model, double time, double step = 1e-3, const std::string& integrator = "") {
  SimulateOptions options;
  options.formulation = "screw";
  options.time = time;
  options.step = step;
  options.integrator = integrator;
  return run(model, options);
}

/// A five-bar whose joints are all damped, the one that closes the loop too.
Model damped_loop(double damping, double friction = 0) {
  const Result<Model> read = read_model(source_file("models/five_bar.urdf"));
  EXPECT_TRUE(read) << read.failure().to_string();
  Model model = read ? *read : Model{};
  for (Joint& joint : model.robot.joints) {
    if (joint.type == JointType::revolute || joint.type == JointType::continuous) {
      joint.dynamics = {JointDynamics{damping, friction, 0, 0, 0}};
    }
  }
  return model;
}

TEST(StiffSimulation, AStronglyDampedLoopSinksAsWithTinySteps) {
  const Model model = damped_loop(20);
  const SimulateResult standard = simulated(model, 0.2);
  EXPECT_EQ(standard.summary.integrator, "implicit-midpoint");
  EXPECT_EQ(standard.summary.loops, 1);
  EXPECT_LT(standard.summary.closure_m, 1e-9);
  const SimulateResult exact = simulated(model, 0.2, 2e-6, "rk4");
  int moving = 0;
  for (const std::string& name : exact.trajectory.names()) {
    if (!name.ends_with(".q")) continue;
    const double start = value(exact.trajectory, 0, name);
    const double moved = value(exact.trajectory, exact.trajectory.samples() - 1, name) - start;
    const double found = value(standard.trajectory, standard.trajectory.samples() - 1, name) - start;
    moving += std::abs(moved) > 1e-5;
    EXPECT_NEAR(found, moved, 2e-3 * std::abs(moved)) << name;
  }
  EXPECT_GE(moving, 3);
}

TEST(StiffSimulation, RobotsWithStiffDampingRunByDefault) {
  for (const std::string file : {"jumping_robot.sdf", "jumping_robot.urdf", "inverted_pendulum.urdf"}) {
    const auto path = shared("models/paper/" + file);
    if (!path) GTEST_SKIP() << "no reference data";
    const Result<Model> model = read_model(*path);
    ASSERT_TRUE(model) << model.failure().to_string();
    const SimulateResult result = simulated(*model, 1);
    EXPECT_NEAR(result.summary.time, 1, 1e-12) << file;
    EXPECT_LT(result.summary.energy_drift, 1e-3) << file;
    EXPECT_LT(result.summary.closure_m, 1e-9) << file;
  }
}

TEST(StiffSimulation, ImplicitStepsAllocateNothing) {
  if (!linear::test::allocations_are_counted()) GTEST_SKIP() << "allocations are not counted here";
  const Model model = damped_loop(20, 0.5);
  const auto start = task::make_spatial_start(model);
  ASSERT_TRUE(start);
  const auto drive = task::SpatialDrive::make(model, *start->tree, std::nullopt, 1);
  ASSERT_TRUE(drive);
  task::SpatialField field(start->tree, start->mobility.freedoms, *drive);
  step::LieStepper stepper(start->tree, field, *step::find_scheme("implicit-midpoint"));
  ASSERT_TRUE(stepper.start(0, start->q.data(), start->v.data()));
  ASSERT_TRUE(stepper.advance(1e-3));
  const long before = linear::test::allocations();
  for (int k = 0; k < 100; ++k) ASSERT_TRUE(stepper.advance(1e-3));
  EXPECT_EQ(linear::test::allocations() - before, 0);
}

}  // namespace
}  // namespace kinegraph::acceptance::stiff_simulation_test
