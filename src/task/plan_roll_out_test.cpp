#include "kinegraph/task/plan_roll_out.hpp"

#include <gtest/gtest.h>

#include "kinegraph/task/arms_test.hpp"

namespace kinegraph::task::plan_roll_out_test {
namespace {

/// A light wheel, turned by a radian from rest to rest.
Result<PlanResult> turn(const JointDynamics& dynamics, int steps) {
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
  return task::plan(make.model, task);
}

/// Friction stops the wheel within 0.15 ms: 33 times faster than a tenth of a step.
TEST(PlanRollOut, FollowsFrictionThatIsFasterThanItsSteps) {
  JointDynamics dynamics;
  dynamics.damping = 0.1;
  dynamics.friction = 0.1;
  const Result<PlanResult> coarse = turn(dynamics, 40), fine = turn(dynamics, 80);
  ASSERT_TRUE(coarse) << coarse.failure().to_string();
  ASSERT_TRUE(fine) << fine.failure().to_string();
  EXPECT_EQ(coarse->summary.roll_out_until, 2);
  EXPECT_LT(coarse->summary.miss_max, 5e-2);
  EXPECT_LT(fine->summary.miss_max, coarse->summary.miss_max / 2);
}

}  // namespace
}  // namespace kinegraph::task::plan_roll_out_test
