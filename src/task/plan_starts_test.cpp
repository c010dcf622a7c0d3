#include "kinegraph/task/plan_starts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "kinegraph/task/arms_test.hpp"
#include "kinegraph/task/clear_path.hpp"

namespace kinegraph::task::plan_starts_test {
namespace {

/// An arm of two links, 0.5 m and 0.4 m, that swings up past a ball on the straight way.
Model arm() {
  RobotMaker make;
  const LinkIndex upper = make.link("upper", 3.2, {0.25, 0, 0}, {0.005, 0.07, 0.07});
  const LinkIndex fore = make.link("fore", 1.7, {0.2, 0, 0}, {0.002, 0.025, 0.025});
  make.joint("shoulder", JointType::revolute, {}, upper, {0, 0, 1}, {0, -1, 0});
  make.joint("elbow", JointType::revolute, upper, fore, {0.5, 0, 0}, {0, -1, 0});
  for (const auto& [link, radius, length] : {std::tuple{upper, 0.04, 0.5}, std::tuple{fore, 0.03, 0.4}}) {
    Shape shape;
    shape.type = Shape::Type::capsule;
    shape.size = {radius, length, 0};
    shape.X_LG = SE3(SO3(from_rpy({0, M_PI / 2, 0})), Vector3d(length / 2, 0, 0));
    make.model.robot.links[link.value].collisions.push_back(shape);
  }
  return make.model;
}

PlanTask past_the_ball(int steps) {
  PlanTask task;
  task.horizon = 1.5;
  task.steps = steps;
  task.collocation = Collocation::hermite_simpson;
  task.start.joints = {{{"shoulder", {}}, -M_PI / 3}, {{"elbow", {}}, M_PI / 9}};
  TaskGoal goal;
  goal.name = "top";
  goal.time = goal.until = 1.5;
  goal.joints = {{{"shoulder", {}}, M_PI / 3}, {{"elbow", {}}, -M_PI / 6}};
  goal.rest = true;
  task.goals = {goal};
  for (const auto& [joint, range, speed, torque] :
       {std::tuple{"shoulder", 3.0, 3.0, 45.0}, std::tuple{"elbow", 2.5, 6.0, 20.0}}) {
    TaskLimit limit;
    limit.joint = {joint, {}};
    limit.position = std::pair(-range, range);
    limit.velocity = speed;
    limit.torque = torque;
    task.limits.push_back(limit);
  }
  TaskObstacle ball;
  ball.name = {"ball", {}};
  ball.shape.type = Shape::Type::sphere;
  ball.shape.size = {0.1, 0, 0};
  ball.shape.X_LG = SE3(SO3(), Vector3d(0.8, 0, 1.15));
  task.obstacles = {ball};
  task.collision = TaskCollision{};
  task.collision->margin = 0.02;
  task.objectives = {{{}, TaskObjective::Type::torque, 10, {}}};
  return task;
}

build::PlanSetting setting_of(const PlanTask& task) {
  const Result<build::PlanSetting> setting = build::PlanSetting::make(arm(), task);
  EXPECT_TRUE(setting) << setting.failure().to_string();
  return *setting;
}

/// The straight way leads through the ball; every point of the other keeps the margin.
TEST(PlanStarts, AClearPathGoesAroundTheObstacle) {
  const build::PlanSetting setting = setting_of(past_the_ball(60));
  const Eigen::Vector2d from(-M_PI / 3, M_PI / 9), to(M_PI / 3, -M_PI / 6);
  const auto clear_between = [&](const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
    bool clear = true;
    for (int i = 0; i <= 100; ++i) clear = clear && is_clear(setting, a + 0.01 * i * (b - a), 1);
    return clear;
  };
  ASSERT_FALSE(clear_between(from, to));
  const std::vector<Eigen::VectorXd> corners = clear_path(setting, from, to, 1);
  ASSERT_GE(corners.size(), 3u);
  EXPECT_EQ(corners.front(), Eigen::VectorXd(from));
  EXPECT_EQ(corners.back(), Eigen::VectorXd(to));
  for (std::size_t i = 1; i < corners.size(); ++i) EXPECT_TRUE(clear_between(corners[i - 1], corners[i]));
  EXPECT_EQ(corners, clear_path(setting, from, to, 1));  // the same every time
}

TEST(PlanStarts, NoPathLeadsIntoAnObstacle) {
  const build::PlanSetting setting = setting_of(past_the_ball(60));
  const Eigen::Vector2d from(-M_PI / 3, M_PI / 9), inside(0.18, 0);
  ASSERT_FALSE(is_clear(setting, inside, 1));
  EXPECT_TRUE(clear_path(setting, from, inside, 1).empty());
}

/// From the straight start the search ends inside the ball, at these numbers of steps; a plan exists all the same.
TEST(PlanStarts, APlanIsFoundThatTheFirstStartDoesNotFind) {
  bool needed = false;
  for (const int steps : {60, 90, 120}) {
    const Result<PlanResult> plan = task::plan(arm(), past_the_ball(steps));
    ASSERT_TRUE(plan) << steps << ": " << plan.failure().to_string();
    EXPECT_LE(plan->summary.solver.violation, 1e-9);
    EXPECT_GE(plan->summary.clearance, 0.02 - 1e-6);
    needed = needed || !plan->summary.starts.empty();
  }
  EXPECT_TRUE(needed);
}

/// Nothing is proven by a search: it is said where it ended, from which starts, and what to give it.
TEST(PlanStarts, WhatIsNotFoundIsNotCalledImpossible) {
  PlanTask task = past_the_ball(60);
  task.limits[0].torque = 2;
  const Result<PlanResult> plan = task::plan(arm(), task);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.failure().exit_status(), 1);
  const std::string why = plan.failure().to_string();
  EXPECT_EQ(why.find("cannot be met"), std::string::npos) << why;
  EXPECT_NE(why.find("not met: "), std::string::npos) << why;
  EXPECT_NE(why.find(" s: off by "), std::string::npos) << why;
  EXPECT_NE(why.find("that is where the search ends from this start and others (fewer steps first, around the "
                     "obstacles, from rest, by the middle of the joints' ranges), no proof that there is no plan: "
                     "another start may find one (--guess FILE.csv, or guess in the task)"),
            std::string::npos)
      << why;
}

}  // namespace
}  // namespace kinegraph::task::plan_starts_test
