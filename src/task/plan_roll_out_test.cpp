#include "kinegraph/task/plan_roll_out.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "kinegraph/task/arms_test.hpp"

namespace kinegraph::task::plan_roll_out_test {
namespace {

/// A light wheel, turned by a radian from rest to rest.
/// By how much its roll-out misses, with friction as in the plan and with its own.
std::pair<double, double> turn(const JointDynamics& dynamics, int steps) {
  RobotMaker make;
  const LinkIndex wheel = make.link("wheel", 0.4, {0, 0, 0}, {3e-4, 3e-4, 3e-4});
  make.joint("axle", JointType::revolute, {}, wheel, {0, 0, 0}, {0, 0, 1}).dynamics = {dynamics};
  PlanTask task;
  task.horizon = 2;
  task.steps = steps;
  TaskGoal goal;
  goal.name = "there";
  goal.time = goal.until = 2;
  goal.joints = {{{"axle", {}}, 1.0}};
  goal.rest = true;
  task.goals = {goal};
  task.objectives = {{{}, TaskObjective::Type::smoothness, 1, {}}};
  Result<Planner> planner = Planner::make(make.model, task, {});
  EXPECT_TRUE(planner) << planner.failure().to_string();
  const Result<PlanResult> plan = planner->plan();
  EXPECT_TRUE(plan) << plan.failure().to_string();
  EXPECT_EQ(plan->summary.roll_out_until, 2);
  const Trajectory rounded = roll_out(planner->problem(), 10, PlanFriction::planned);
  return {goal_misses(planner->problem(), rounded)[0].roll_out, plan->summary.miss_max};
}

/// Friction stops the wheel within 0.15 ms: 33 times faster than a tenth of a step.
TEST(PlanRollOut, FollowsFrictionThatIsFasterThanItsSteps) {
  JointDynamics dynamics;
  dynamics.damping = 0.1;
  dynamics.friction = 0.1;
  const auto [coarse, coarse_sharp] = turn(dynamics, 40);
  const auto [fine, fine_sharp] = turn(dynamics, 80);
  EXPECT_LT(coarse, 5e-2);
  EXPECT_LT(fine, coarse / 2);
  // what sharp friction makes of it is no matter of the steps
  EXPECT_LT(coarse_sharp, 5e-2);
  EXPECT_NEAR(fine_sharp, coarse_sharp, 0.3 * coarse_sharp);
}

}  // namespace
}  // namespace kinegraph::task::plan_roll_out_test
