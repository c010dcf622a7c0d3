#include "kinegraph/task/plan_hints.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "kinegraph/task/arms_test.hpp"

namespace kinegraph::task::plan_hints_test {
namespace {

/// A slide upward of 2 kg, and on it a lever of 1 kg, whose centre of mass is 0.5 m out.
build::PlanSetting setting_of(const std::vector<TaskLimit>& limits, double lift = 0.1, double slide = 0,
                              std::optional<double> ball_height = {}) {
  RobotMaker make;
  const LinkIndex carriage = make.link("carriage", 2, {0, 0, 0}, {0.01, 0.01, 0.01});
  const LinkIndex bar = make.link("bar", 1, {0.5, 0, 0}, {1e-3, 0.02, 0.02});
  make.joint("lift", JointType::prismatic, {}, carriage, {0, 0, 0}, {0, 0, 1});
  make.joint("lever", JointType::revolute, carriage, bar, {0, 0, 0}, {0, 1, 0});
  PlanTask task;
  task.horizon = 1;
  task.steps = 10;
  task.gravity = Vector3d(0, 0, -10);
  task.start.joints = {{{"lift", {}}, slide}};
  TaskGoal goal;
  goal.name = "up";
  goal.time = goal.until = 1;
  goal.joints = {{{"lift", {"t.yaml", 7, 3}}, lift}, {{"lever", {}}, 0.25}};
  task.goals = {goal};
  task.limits = limits;
  if (ball_height) {  // 0.2 m in radius, 0.5 m out; the lever's end is a point of 0.1 m
    Shape ball, tip;
    ball.type = tip.type = Shape::Type::sphere;
    ball.size[0] = 0.2, tip.size[0] = 0.1;
    ball.X_LG = SE3({}, {0.5, 0, *ball_height});
    tip.X_LG = SE3({}, {0.5, 0, 0});
    task.obstacles = {{{}, {"ball", {}}, ball}};
    task.solids = {{{}, {"bar", {}}, tip}};
  }
  const Result<build::PlanSetting> setting = build::PlanSetting::make(make.model, task);
  EXPECT_TRUE(setting) << setting.failure().to_string();
  return *setting;
}

TaskLimit limit_of(const char* joint, std::optional<std::pair<double, double>> position, std::optional<double> torque) {
  TaskLimit limit;
  limit.joint = {joint, {}};
  limit.position = position;
  limit.torque = torque;
  return limit;
}

TEST(PlanHints, GoalsBeyondLimitsAreToldWithoutASearch) {
  EXPECT_FALSE(impossible_goals(setting_of({limit_of("lift", std::pair(-1.0, 0.5), {})}, 0.5)));
  const auto beyond = impossible_goals(setting_of({limit_of("lift", std::pair(-1.0, 0.5), {})}, 0.75));
  ASSERT_TRUE(beyond);
  EXPECT_EQ(beyond->kind, Failure::Kind::no_answer);
  EXPECT_EQ(beyond->to_string(),
            "t.yaml:7:3: error: cannot be met: up: lift.q at t = 1 s is 0.75 m, its limit 0.5 m: off by 0.25 m");
  build::PlanSetting wished = setting_of({limit_of("lift", std::pair(-1.0, 0.5), {})}, 0.75);
  wished.task.goals[0].sigma = 0.1;  // a cost may be beyond
  EXPECT_FALSE(impossible_goals(wished));
}

TEST(PlanHints, GoalsTooFarForTheSpeedOfAJointAreToldWithoutASearch) {
  TaskLimit slow = limit_of("lift", {}, {});
  slow.velocity = 0.5;
  EXPECT_FALSE(impossible_goals(setting_of({slow}, 0.5)));
  const auto far = impossible_goals(setting_of({slow}, 0.75, 0.05));
  ASSERT_TRUE(far);
  EXPECT_EQ(far->to_string(),
            "t.yaml:7:3: error: cannot be met: up: lift has 1 s for 0.7 m and moves by 0.5 m/s at most: off by 0.2 m");
  build::PlanSetting twice = setting_of({slow}, 0.5);  // from goal to goal, and in the time of both
  twice.task.goals.push_back(twice.task.goals[0]);
  twice.task.goals[0].time = twice.task.goals[0].until = 0.6;
  twice.task.goals[0].joints[0].second = 0.3;
  EXPECT_FALSE(impossible_goals(twice));
  twice.task.goals[0].joints[0].second = 0.29;
  EXPECT_TRUE(impossible_goals(twice));
}

/// A goal that holds on for a time, and another during it: they are compared by their values, and what follows counts
/// from the end of both.
TEST(PlanHints, GoalsThatHoldAtOneTimeMustAgree) {
  TaskLimit slow = limit_of("lift", {}, {});
  slow.velocity = 0.5;
  build::PlanSetting held = setting_of({slow}, 0.3);
  const TaskGoal end = held.task.goals[0];
  TaskGoal hold = end, during = end;
  hold.name = "hold", hold.time = 0.6, hold.until = 0.9;
  during.name = "during", during.time = during.until = 0.7;
  held.task.goals = {hold, during, end};
  EXPECT_FALSE(impossible_goals(held));
  held.task.goals[2].joints[0].second = 0.36;  // 0.06 m in 0.1 s
  const auto late = impossible_goals(held);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->to_string(),
            "t.yaml:7:3: error: cannot be met: up: lift has 0.1 s for 0.06 m and moves by 0.5 m/s at most: off by 0.01 "
            "m");
  held.task.goals[2] = end;
  held.task.goals[1].joints[0].second = 0.31;
  const auto other = impossible_goals(held);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->to_string(),
            "t.yaml:7:3: error: cannot be met: during: lift.q at t = 0.7 s is 0.31 m, of hold 0.3 m: off by 0.01 m");
  held.speed.assign(held.speed.size(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(impossible_goals(held));
}

/// With the lever at 0.25 rad its end is 0.124 m below, and 0.484 m out.
TEST(PlanHints, GoalsWhereSomethingIsInTheWayAreToldWithoutASearch) {
  EXPECT_FALSE(impossible_goals(setting_of({}, 0.1, 0, 0.5)));
  build::PlanSetting blocked = setting_of({}, 0.6, 0, 0.5);
  const auto touches = impossible_goals(blocked);
  ASSERT_TRUE(touches);
  EXPECT_NE(touches->to_string().find("cannot be met: up at t = 1 s: clearance bar - ball is -0.271"),
            std::string::npos)
      << touches->to_string();
  blocked.task.goals[0].joints.pop_back();  // the lever may be elsewhere
  EXPECT_FALSE(impossible_goals(blocked));
}

std::vector<std::string> hints_of(const build::PlanSetting& setting) {
  return hints(build::PlanProblem::make(std::make_shared<const build::PlanSetting>(setting), 1));
}

/// The lift carries 3 kg: 30 N. The lever 1 kg at 0.5 m: 5 N m, where it starts and (before a search) where it ends.
TEST(PlanHints, MotorsThatCannotHoldTheRobotAreNamed) {
  EXPECT_TRUE(hints_of(setting_of({limit_of("lift", {}, 31.0), limit_of("lever", {}, 5.5)})).empty());
  const std::vector<std::string> found = hints_of(setting_of({limit_of("lift", {}, 29.0), limit_of("lever", {}, 4.0)}));
  std::vector<std::string> expected;
  for (const int t : {0, 1}) {
    expected.push_back(fmt::format("to stand still at t = {} s takes 30 N of lift.tau, its limit is 29 N", t));
    expected.push_back(fmt::format("to stand still at t = {} s takes 5 N m of lever.tau, its limit is 4 N m", t));
  }
  EXPECT_EQ(found, expected);
}

TEST(PlanHints, AStartBeyondLimitsIsNamed) {
  const std::vector<std::string> found = hints_of(setting_of({limit_of("lift", std::pair(-1.0, 0.5), {})}, 0.1, 0.8));
  EXPECT_EQ(found, std::vector<std::string>{"the start has lift.q = 0.8 m, beyond its limit 0.5 m"});
}

TEST(PlanHints, AStartThatTouchesIsNamed) {
  const std::vector<std::string> found = hints_of(setting_of({}, 0.9, 0, 0.25));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], "the start is too near: clearance bar - ball is -0.05 m there, 0.01 m is asked for");
}

TEST(PlanHints, ColumnsHaveUnits) {
  const build::PlanSetting setting = setting_of({});
  EXPECT_EQ(unit_of_column(setting, "lift.q"), "m");
  EXPECT_EQ(unit_of_column(setting, "lift.v"), "m/s");
  EXPECT_EQ(unit_of_column(setting, "lift.tau"), "N");
  EXPECT_EQ(unit_of_column(setting, "lever.a"), "rad/s²");
  EXPECT_EQ(unit_of_column(setting, "lever.tau"), "N m");
  EXPECT_EQ(unit_of_column(setting, "foot.fx"), "");
}

}  // namespace
}  // namespace kinegraph::task::plan_hints_test
