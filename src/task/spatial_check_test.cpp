#include "kinegraph/task/spatial_check.hpp"

#include <gtest/gtest.h>

#include "kinegraph/task/linkages_test.hpp"

namespace kinegraph::task::spatial_check_test {
using namespace linkages;
namespace {

TEST(SpatialCheck, CountsAnArm) {
  Robot robot = seven_joint_arm();
  const int tool = add_link(robot, "tool", 0.5);
  add_joint(robot, "flange", JointType::fixed, robot.find_link("hand"), tool, pose(0, 0, 0.1));
  const auto r = spatial_check(model_of(robot));
  ASSERT_TRUE(r) << r.failure().to_string();
  EXPECT_EQ(r->links, 9);
  EXPECT_EQ(r->bodies, 7);
  EXPECT_EQ(r->joints, (std::map<std::string, int>{{"fixed", 1}, {"revolute", 7}}));
  EXPECT_EQ(r->limited, 7);
  EXPECT_EQ(r->motors, 7);
  EXPECT_EQ(r->mimic, 0);
  EXPECT_EQ(r->base, "fixed");
  EXPECT_EQ(r->joint_freedoms, 7);
  EXPECT_EQ(r->freedoms, 7);
  EXPECT_EQ(r->loops, 0);
  EXPECT_DOUBLE_EQ(r->mass, 7.5);
  EXPECT_TRUE(r->massless.empty());
  EXPECT_TRUE(r->undetermined.empty());
  EXPECT_EQ(r->independent.front(), "joint1.q");
}

TEST(SpatialCheck, OverconstrainedLoop) {
  const auto r = spatial_check(model_of(bennett()));
  ASSERT_TRUE(r) << r.failure().to_string();
  EXPECT_EQ(r->bodies, 3);
  EXPECT_EQ(r->loops, 1);
  EXPECT_EQ(r->closure_equations, 5);
  EXPECT_EQ(r->rank, 2);
  EXPECT_EQ(r->freedoms, 1);
  EXPECT_EQ(r->redundant, std::vector<std::string>{"loop j4: 3 of 5 equations"});
  EXPECT_FALSE(r->singular_here);
  EXPECT_LT(r->closure_max, 1e-12);
}

TEST(SpatialCheck, FloatingBaseAndMimic) {
  Robot robot = seven_joint_arm();
  robot.base = Robot::Base::floating;
  robot.joints[6].mimic = Mimic{JointIndex{5}, -1, 0};
  const auto r = spatial_check(model_of(robot));
  ASSERT_TRUE(r) << r.failure().to_string();
  EXPECT_EQ(r->base, "floating");
  EXPECT_EQ(r->mimic, 1);
  EXPECT_EQ(r->motors, 6);
  EXPECT_EQ(r->freedoms, 12);
}

TEST(SpatialCheck, MasslessBodiesMatterOnlyWhereNothingHangsOnThem) {
  Robot inner = seven_joint_arm();
  inner.links[3].inertia = Inertia();
  const auto between = spatial_check(model_of(inner));
  ASSERT_TRUE(between);
  EXPECT_EQ(between->massless, std::vector<std::string>{"link3"});
  EXPECT_TRUE(between->undetermined.empty());

  Robot outer = seven_joint_arm();
  outer.links[7].inertia = Inertia();
  const auto last = spatial_check(model_of(outer));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->undetermined, std::vector<std::string>{"joint7"});
}

TEST(SpatialCheck, LoopsThatCannotBeClosedAreTold) {
  Robot robot = four_bar();
  robot.joints[3].X_PF = pose(5, 0, 0);
  const auto r = spatial_check(model_of(robot));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.failure().exit_status(), 1);
  EXPECT_EQ(r.failure().to_string(), "error: cannot be assembled: loop 'end' stays open by 3.9 m");
}

}  // namespace
}  // namespace kinegraph::task::spatial_check_test
