#include "kinegraph/task/plan_follow.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/task/arms_test.hpp"
#include "kinegraph/task/plan_limits.hpp"
#include "kinegraph/task/plan_roll_out.hpp"

namespace kinegraph::task::plan_follow_test {
namespace {

/// Two heavy rods, one on the other, that come to stand upright: what is off grows.
Model rods() {
  RobotMaker make;
  const LinkIndex lower = make.link("lower", 2, {0, 0, -0.25}, {0.04, 0.04, 0.001});
  const LinkIndex upper = make.link("upper", 1, {0, 0, -0.2}, {0.02, 0.02, 0.001});
  make.joint("shoulder", JointType::revolute, {}, lower, {0, 0, 0}, {1, 0, 0});
  make.joint("elbow", JointType::revolute, lower, upper, {0, 0, -0.5}, {1, 0, 0});
  return make.model;
}

PlanTask stand_up(Collocation rule, int steps) {
  PlanTask task;
  task.horizon = 2;
  task.steps = steps;
  task.collocation = rule;
  TaskGoal goal;
  goal.name = "up";
  goal.time = goal.until = 2;
  goal.joints = {{{"shoulder", {}}, M_PI}, {{"elbow", {}}, 0.0}};
  goal.rest = true;
  task.goals = {goal};
  task.limits = {{{}, {"all", {}}, {}, {}, 8.0}};
  task.objectives = {{{}, TaskObjective::Type::torque, 10, {}}, {{}, TaskObjective::Type::smoothness, 30, {}}};
  return task;
}

struct Found {
  PlanResult before, after;
  std::optional<build::PlanProblem> problem;
};

Found follow_plan(const PlanTask& task) {
  PlanOptions options;
  options.refine = 0;
  Result<Planner> planner = Planner::make(rods(), task, options);
  EXPECT_TRUE(planner) << planner.failure().to_string();
  Result<PlanResult> plan = planner->plan();
  EXPECT_TRUE(plan) << plan.failure().to_string();
  Found found{*plan, *plan, {}};
  options.refine = 1e-3;
  auto problem = follow(planner->problem(), *planner->problem().setting, options, found.after);
  EXPECT_TRUE(problem && *problem);
  if (problem) found.problem = *std::move(problem);
  return found;
}

void expect_followed(const PlanTask& task) {
  const Found found = follow_plan(task);
  ASSERT_TRUE(found.problem);
  EXPECT_GT(found.before.summary.miss_max, 1e-2);
  EXPECT_LT(found.after.summary.miss_max, 1e-4);
  EXPECT_GT(found.after.summary.corrections, 0);
  EXPECT_LT(step_miss(*found.problem, 10), 1e-9);
  EXPECT_LT(found.after.summary.solver.violation, 1e-9);
  // the motion, not the integrator: other steps of it lead there too
  for (const GoalMiss& miss : goal_misses(*found.problem, roll_out(*found.problem, 37))) {
    EXPECT_LT(miss.plan, 1e-9) << miss.what;
    if (miss.what == "rest") continue;
    EXPECT_LT(miss.roll_out, 1e-3) << miss.what;
  }
  // torque limits bind, and hold in the motion that is made
  EXPECT_EQ(found.after.summary.limit_excess, 0);
  double most = 0;
  for (int k = 0; k < found.problem->setting->knots(); ++k) {
    most = std::max(most, found.problem->sample(k).u.lpNorm<Eigen::Infinity>());
  }
  EXPECT_GT(most, 7.5);
  EXPECT_LE(most, 8 + 1e-9);
  EXPECT_LT(found.after.summary.solver.cost, 1.1 * found.before.summary.solver.cost);
}

TEST(PlanFollow, TrapezoidalSteps) { expect_followed(stand_up(Collocation::trapezoidal, 40)); }
TEST(PlanFollow, HermiteSimpsonSteps) { expect_followed(stand_up(Collocation::hermite_simpson, 12)); }
TEST(PlanFollow, EulerSteps) { expect_followed(stand_up(Collocation::euler, 200)); }

/// Where a payload is taken, the torques of the step before end with those of the arm without it.
TEST(PlanFollow, TakesAPayload) {
  PlanTask task = stand_up(Collocation::trapezoidal, 40);
  task.limits = {{{}, {"all", {}}, {}, {}, 30.0}};
  TaskPayload payload;
  payload.link = {"upper", {}};
  payload.from = 1;
  payload.inertia = {0.5, {0, 0, -0.4}, Matrix3d::Identity() * 1e-3};
  task.payload = payload;
  const Found found = follow_plan(task);
  ASSERT_TRUE(found.problem);
  EXPECT_GT(found.before.summary.miss_max, 1e-2);
  EXPECT_LT(found.after.summary.miss_max, 1e-4);
  EXPECT_LE(found.after.summary.corrections, 4);
}

/// Nothing is missed, or nothing may be done: the plan stays as it is.
TEST(PlanFollow, LeavesGoodPlansAlone) {
  const PlanTask task = stand_up(Collocation::hermite_simpson, 100);
  const Result<PlanResult> plan = task::plan(rods(), task);
  ASSERT_TRUE(plan) << plan.failure().to_string();
  EXPECT_LT(plan->summary.miss_max, PlanOptions().refine);
  EXPECT_EQ(plan->summary.corrections, 0);
}

/// Knots that a Gaussian process ties (003) do not promise a motion.
TEST(PlanFollow, LeavesPlansWithoutCollocationAlone) {
  PlanTask task = stand_up(Collocation::none, 40);
  task.limits.clear();
  const Result<PlanResult> plan = task::plan(rods(), task);
  ASSERT_TRUE(plan) << plan.failure().to_string();
  EXPECT_GT(plan->summary.miss_max, PlanOptions().refine);
  EXPECT_EQ(plan->summary.corrections, 0);
}

}  // namespace
}  // namespace kinegraph::task::plan_follow_test
