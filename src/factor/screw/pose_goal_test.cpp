#include "kinegraph/factor/screw/pose_goal.hpp"

#include <gtest/gtest.h>

#include "kinegraph/factor/screw/screw_test.hpp"

namespace kinegraph::screw::pose_goal_test {
namespace {

TEST(PoseGoal, JacobiansMatchDifferencesForEveryChoiceOfRows) {
  std::mt19937 random(4);
  for (int choice = 1; choice < 16; ++choice) {
    GoalPose goal;
    goal.X_WG = Transform<double>(random_pose(random, 0.4));
    goal.rotation = choice & 8;
    for (int i = 0; i < 3; ++i) goal.axis[i] = choice & (1 << i);
    const PoseGoal factor("hand", goal, Transform<double>(random_pose(random)));
    EXPECT_EQ(factor.rows(), goal.rows());
    expect_exact_jacobians(factor, {Manifold::se3()});
  }
}

TEST(PoseGoal, IsZeroAtTheGoalAndMetresBesideIt) {
  std::mt19937 random(5);
  const Transform<double> X_BT(random_pose(random));
  GoalPose goal;
  goal.rotation = true;
  goal.X_WG = Transform<double>(random_pose(random));
  const PoseGoal factor("hand", goal, X_BT);
  SlotValues x(1, std::vector<double>(7));
  to_se3(goal.X_WG * X_BT.inverse()).store(x[0].data());
  for (const double e : residual(factor, x)) EXPECT_NEAR(e, 0, 1e-14);
  x[0][4] += 0.25;
  EXPECT_NEAR(residual(factor, x)[3], 0.25, 1e-14);
}

}  // namespace
}  // namespace kinegraph::screw::pose_goal_test
