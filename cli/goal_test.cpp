#include "goal.hpp"

#include <gtest/gtest.h>

namespace kinegraph::cli::goal_test {
namespace {

std::string faults(const std::string& text) {
  OptionReader reader;
  read_goal(reader, text);
  return reader.ok() ? "" : reader.failure().to_string();
}

TEST(Goal, PositionAndRotation) {
  OptionReader reader;
  const task::FrameGoal goal = read_goal(reader, "hand: x=0.4 y=100mm z=1/2 rpy=0,90deg,0 offset=0,0,0.1");
  ASSERT_TRUE(reader.ok()) << reader.failure().to_string();
  EXPECT_EQ(goal.frame, "hand");
  EXPECT_LT((goal.pose.X_WG.p - Eigen::Vector3d(0.4, 0.1, 0.5)).norm(), 1e-15);
  EXPECT_TRUE(goal.pose.rotation);
  EXPECT_EQ(goal.pose.rows(), 6);
  EXPECT_LT((goal.pose.X_WG.R * Eigen::Vector3d::UnitZ() - Eigen::Vector3d::UnitX()).norm(), 1e-15);
  EXPECT_EQ(goal.offset, Eigen::Vector3d(0, 0, 0.1));
}

TEST(Goal, CommasBetweenTheTerms) {
  for (const char* text : {"hand: x=0.4, z=0.3, rpy=0, 90deg, 0", "hand:x=0.4,z=0.3,rpy=0,90deg,0,"}) {
    OptionReader reader;
    const task::FrameGoal goal = read_goal(reader, text);
    ASSERT_TRUE(reader.ok()) << reader.failure().to_string();
    EXPECT_EQ(goal.pose.rows(), 5);
    EXPECT_FALSE(goal.pose.axis[1]);
    EXPECT_EQ(goal.pose.X_WG.p, Eigen::Vector3d(0.4, 0, 0.3));
    EXPECT_LT((goal.pose.X_WG.R * Eigen::Vector3d::UnitZ() - Eigen::Vector3d::UnitX()).norm(), 1e-15);
  }
}

TEST(Goal, SomeOfTheRows) {
  OptionReader reader;
  EXPECT_EQ(read_goal(reader, "hand: z=1").pose.rows(), 1);
  EXPECT_EQ(read_goal(reader, "arm::hand: quat=0,1,0,0").pose.rows(), 3);
  EXPECT_EQ(read_goal(reader, "arm::hand: quat=0,1,0,0").frame, "arm::hand");
  EXPECT_TRUE(reader.ok());
}

TEST(Goal, FaultsAreTold) {
  EXPECT_EQ(faults("hand x=1"),
            "error: goal: expected 'LINK: x=… y=… z=… [rpy=r,p,y | quat=w,x,y,z] [offset=x,y,z]', found 'hand x=1'");
  for (const std::string text : {"hand: 0.6 0 0.3", "hand: 0.6, 0, 0.3", "hand: x=1 2", "hand: x=", "hand: x = 1"}) {
    EXPECT_EQ(
        faults(text),
        "error: goal: expected 'LINK: x=… y=… z=… [rpy=r,p,y | quat=w,x,y,z] [offset=x,y,z]', found '" + text + "'");
  }
  EXPECT_EQ(faults("hand: rpy=0,,0,0"), "error: goal rpy: expected 3 numbers with commas between, found '0,,0,0'");
  EXPECT_EQ(faults("hand: x=1 x=2"), "error: goal: 'x' is given twice");
  EXPECT_EQ(faults("hand: rpz=0,0,0"), "error: goal: unknown key 'rpz'; did you mean 'rpy'?");
  EXPECT_EQ(faults("hand: rpy=0,0"), "error: goal rpy: expected 3 numbers with commas between, found '0,0'");
  EXPECT_EQ(faults("hand: quat=1,1,0,0"), "error: goal quat: must have the length 1, has 1.414");
  EXPECT_EQ(faults("hand: rpy=0,0,0 quat=1,0,0,0"), "error: goal: rpy and quat: only one of them");
  EXPECT_EQ(faults("hand:"), "error: goal: nothing is asked of 'hand'");
  EXPECT_EQ(faults("hand: offset=0,0,1"), "error: goal: nothing is asked of 'hand'");
}

}  // namespace
}  // namespace kinegraph::cli::goal_test
