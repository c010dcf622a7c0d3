#include "kinegraph/task/plan_guess.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/task/arms_test.hpp"

namespace kinegraph::task::plan_guess_test {
namespace {

constexpr double kBent = 1.2;  // rad: how far the elbow bends, to one side or the other

/// Two links of 0.5 m in the x-z plane.
Model two_links() {
  RobotMaker make;
  const LinkIndex upper = make.link("upper", 1, {0.25, 0, 0}, {1e-3, 0.02, 0.02});
  const LinkIndex fore = make.link("fore", 1, {0.25, 0, 0}, {1e-3, 0.02, 0.02});
  make.joint("shoulder", JointType::revolute, {}, upper, {0, 0, 0}, {0, 1, 0});
  make.joint("elbow", JointType::revolute, upper, fore, {0.5, 0, 0}, {0, 1, 0});
  return make.model;
}

/// The tip where the elbow is bent by kBent; from the other side of that, `above` at most.
PlanTask reach_with_elbow(double below, double above) {
  PlanTask task;
  task.horizon = 1;
  task.steps = 20;
  task.start.joints = {{{"elbow", {}}, 0.3}};
  TaskGoal goal;
  goal.name = "there";
  goal.time = goal.until = 1;
  goal.frame = {"fore", {}};
  goal.offset = {0.5, 0, 0};
  goal.position = Vector3d(std::cos(kBent / 2), std::nan(""), 0);
  goal.rest = true;
  task.goals = {goal};
  TaskLimit limit;
  limit.joint = {"elbow", {}};
  limit.position = std::pair(below, above);
  task.limits = {limit};
  task.objectives = {{{}, TaskObjective::Type::torque, 10, {}}};
  task.guess.type = TaskGuess::Type::kinematics;
  return task;
}

/// The nearest answer of inverse kinematics, elbow at +1.2, is beyond the limit of the task; the other one is not.
TEST(PlanGuess, KeepsTheLimitsOfTheTask) {
  const Result<PlanResult> free = task::plan(two_links(), reach_with_elbow(-3, 3));
  ASSERT_TRUE(free) << free.failure().to_string();
  EXPECT_NEAR(free->trajectory.at(20, free->trajectory.find("elbow.q")), kBent, 1e-6);
  const Result<PlanResult> tight = task::plan(two_links(), reach_with_elbow(-3, 0.45));
  ASSERT_TRUE(tight) << tight.failure().to_string();
  EXPECT_NEAR(tight->trajectory.at(20, tight->trajectory.find("elbow.q")), -kBent, 1e-6);
}

TEST(PlanGuess, TellsWhatTheLimitsOfTheTaskKeepOutOfReach) {
  const Result<PlanResult> plan = task::plan(two_links(), reach_with_elbow(-1, 0.45));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.failure().exit_status(), 1);
  const std::string why = plan.failure().to_string();
  EXPECT_NE(why.find("cannot be met: there: fore at t = 1 s: off by "), std::string::npos) << why;
}

}  // namespace
}  // namespace kinegraph::task::plan_guess_test
