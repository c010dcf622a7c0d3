#include "kinegraph/task/spatial_kinematics.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <unsupported/Eigen/MatrixFunctions>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/task/linkages_test.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task::spatial_kinematics_test {
using namespace linkages;
namespace {

double number(const Trajectory& t, int row, const std::string& name) {
  EXPECT_GE(t.find(name), 0) << name;
  return t.at(row, t.find(name));
}

Eigen::Matrix4d link_matrix(const Trajectory& t, int row, const std::string& link) {
  Eigen::Matrix4d X = Eigen::Matrix4d::Identity();
  X.topLeftCorner<3, 3>() = Eigen::Quaterniond(number(t, row, link + ".qw"), number(t, row, link + ".qx"),
                                               number(t, row, link + ".qy"), number(t, row, link + ".qz"))
                                .toRotationMatrix();
  for (int i = 0; i < 3; ++i) X(i, 3) = number(t, row, link + "." + "xyz"[i]);
  return X;
}

/// exp(ξ₁ q₁) … exp(ξₙ qₙ) M with ξ of axes and points in the world at q = 0, by the series of matrices.
Eigen::Matrix4d product_of_exponentials(const std::vector<Eigen::Vector3d>& axes,
                                        const std::vector<Eigen::Vector3d>& points, const std::vector<double>& q,
                                        const Eigen::Matrix4d& M) {
  Eigen::Matrix4d X = Eigen::Matrix4d::Identity();
  for (std::size_t i = 0; i < q.size(); ++i) {
    Eigen::Matrix4d xi = Eigen::Matrix4d::Zero();
    const Eigen::Vector3d w = axes[i], v = -w.cross(points[i]);
    xi << 0, -w.z(), w.y(), v.x(), w.z(), 0, -w.x(), v.y(), -w.y(), w.x(), 0, v.z(), 0, 0, 0, 0;
    X = X * (xi * q[i]).exp();
  }
  return X * M;
}

TEST(SpatialKinematics, ForwardAgreesWithAProductOfExponentials) {
  Robot robot = seven_joint_arm();
  const std::vector<double> q = {0.3, -0.9, 1.4, 1.1, -2.0, 0.7, 2.5};
  std::vector<Eigen::Vector3d> axes, points;
  double height = 0;
  for (int i = 0; i < 7; ++i) {
    height += robot.joints[i].X_PF.position().z();
    axes.push_back(robot.joints[i].axis);
    points.emplace_back(0, 0, height);
    robot.joints[i].initial_q = {q[i]};
  }
  Eigen::Matrix4d M = Eigen::Matrix4d::Identity();
  M(2, 3) = height;
  const auto result = spatial_kinematics(model_of(robot), {});
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_EQ(result->freedoms, 7);
  EXPECT_EQ(result->trajectory.samples(), 1);
  EXPECT_EQ(number(result->trajectory, 0, "joint3.q"), 1.4);
  const Eigen::Matrix4d expected = product_of_exponentials(axes, points, q, M);
  EXPECT_LT((link_matrix(result->trajectory, 0, "hand") - expected).norm(), 1e-13);
}

TEST(SpatialKinematics, BennettTurnsFullyAndStaysClosed) {
  SpatialKinematicsOptions options;
  options.move = Move{"j1.q", 1.0, 1.0 + kTurn, 181};
  const auto result = spatial_kinematics(model_of(bennett()), options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_EQ(result->freedoms, 1);
  EXPECT_EQ(result->trajectory.samples(), 181);
  EXPECT_LT(result->closure_max, 1e-10);
  EXPECT_EQ(result->independent, std::vector<std::string>{"j1.q"});
  // tan(θ₁/2) tan(θ₂/2) is constant all the way round.
  const double a = 0.5, b = std::asin(0.5 / 0.3 * std::sin(0.5));
  const double k = std::sin((a + b) / 2) / std::sin((b - a) / 2);
  for (int row = 0; row < 181; ++row) {
    const double t1 = number(result->trajectory, row, "j1.q") / 2, t2 = number(result->trajectory, row, "j2.q") / 2;
    EXPECT_NEAR(std::sin(t1) * std::sin(t2), k * std::cos(t1) * std::cos(t2), 1e-10) << row;
  }
  for (const char* link : {"one", "two", "three"}) {
    EXPECT_LT((link_matrix(result->trajectory, 0, link) - link_matrix(result->trajectory, 180, link)).norm(), 1e-9);
  }
}

TEST(SpatialKinematics, FourBarCrankTurnsOnOneBranch) {
  SpatialKinematicsOptions options;
  options.move = Move{"crank", 0, kTurn, 73};
  const auto result = spatial_kinematics(model_of(four_bar()), options);
  ASSERT_TRUE(result) << result.failure().to_string();
  const Trajectory& t = result->trajectory;
  for (int row = 0; row < 73; ++row) {
    // The rocker's end stays above the line from the crank's end to the rocker's foot.
    const Eigen::Vector4d end = link_matrix(t, row, "rocker") * Eigen::Vector4d(0.4, 0, 0, 1);
    const Eigen::Vector4d pin = link_matrix(t, row, "coupler").col(3);
    EXPECT_GT((0.5 - pin.x()) * (end.z() - pin.z()) - (0 - pin.z()) * (end.x() - pin.x()), 0) << row;
    EXPECT_NEAR((end - pin).norm(), 0.5, 1e-11);
  }
}

TEST(SpatialKinematics, FourBarRockerStopsWhereTheLinksAreInLine) {
  SpatialKinematicsOptions options;
  options.move = Move{"rocker.q", 0, 3, 31};
  const auto result = spatial_kinematics(model_of(four_bar()), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().kind, Failure::Kind::no_answer);
  EXPECT_NE(result.failure().to_string().find("cannot move 'rocker.q' to"), std::string::npos);
}

TEST(SpatialKinematics, FourBarHasTwoBranches) {
  SpatialKinematicsOptions options;
  options.branches = true;
  const auto result = spatial_kinematics(model_of(four_bar()), options);
  ASSERT_TRUE(result) << result.failure().to_string();
  ASSERT_EQ(result->trajectory.samples(), 2);
  EXPECT_LT(result->closure_max, 1e-10);
  // Mirror images in the line from crank to ground pivot, here the x axis.
  const Eigen::Vector4d a = link_matrix(result->trajectory, 0, "rocker") * Eigen::Vector4d(0.4, 0, 0, 1);
  const Eigen::Vector4d b = link_matrix(result->trajectory, 1, "rocker") * Eigen::Vector4d(0.4, 0, 0, 1);
  EXPECT_NEAR(a.x(), b.x(), 1e-10);
  EXPECT_NEAR(a.z(), -b.z(), 1e-10);
}

/// Goals that the arm can reach, because it has been there.
TEST(SpatialKinematics, ReachesRandomGoalsWithinLimits) {
  const Robot robot = seven_joint_arm();
  const auto tree = *screw::Tree::make(robot);
  std::mt19937_64 random(7);
  screw::Poses poses(7);
  int solved = 0, iterations = 0, starts = 0;
  constexpr int kGoals = 100;
  for (int i = 0; i < kGoals; ++i) {
    const Eigen::VectorXd there = random_position(*tree, tree->start_position(), random);
    screw::body_poses(*tree, there.data(), poses);
    FrameGoal goal;
    goal.frame = "hand";
    goal.pose.X_WG = poses[6];
    goal.pose.rotation = true;
    Eigen::VectorXd from(7);
    from << 0.1, 0.5, 0.1, 0.8, 0.1, 0.5, 0.1;
    const auto reached = reach(tree, from, {goal}, {});
    ASSERT_TRUE(reached) << reached.failure().to_string();
    iterations += reached->iterations;
    starts += reached->starts;
    if (!reached->solved) continue;
    ++solved;
    screw::body_poses(*tree, reached->q.data(), poses);
    EXPECT_LT((poses[6].p - goal.pose.X_WG.p).norm(), 1e-9);
    EXPECT_LT((poses[6].R - goal.pose.X_WG.R).norm(), 1e-8);
    for (int j = 0; j < 7; ++j) {
      EXPECT_LE(std::abs(reached->q[j]), robot.joints[j].limits[0].upper) << "joint " << j + 1;
    }
  }
  RecordProperty("solved", solved);
  RecordProperty("iterations", iterations);
  RecordProperty("starts", starts);
  EXPECT_GE(solved, 96);
}

TEST(SpatialKinematics, GoalBeyondTheArmSaysHowFarItIs) {
  SpatialKinematicsOptions options;
  FrameGoal goal;
  goal.frame = "hand";
  goal.pose.X_WG.p = {3, 0, 0.34};
  options.goals = {goal};
  options.starts = 3;
  const auto result = spatial_kinematics(model_of(seven_joint_arm()), options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_EQ(result->solved, 0);
  // Stretched out from the shoulder at 0.34 m: 3 − 0.926 m are left.
  EXPECT_NEAR(result->distance_max, 3 - 0.926, 1e-6);
  EXPECT_EQ(result->missed, "link 'hand' cannot reach its goal: 2.074 m are left");
  EXPECT_NEAR(number(result->trajectory, 0, "hand.x"), 0.926, 1e-6);
}

TEST(SpatialKinematics, LimitsThatBlockAreNamed) {
  // One hinge about z, up to 0.5 rad: its end shall be at 90 degrees.
  Robot robot;
  const int base = add_link(robot, "base"), arm = add_link(robot, "arm");
  add_joint(robot, "hinge", JointType::revolute, base, arm, SE3()).limits = {limits(-0.5, 0.5)};
  SpatialKinematicsOptions options;
  FrameGoal goal;
  goal.frame = "arm";
  goal.offset = {1, 0, 0};
  goal.pose.X_WG.p = {0, 1, 0};
  options.goals = {goal};
  const auto result = spatial_kinematics(model_of(robot), options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_EQ(result->solved, 0);
  EXPECT_EQ(number(result->trajectory, 0, "hinge.q"), 0.5);
  EXPECT_EQ(result->at_limits, std::vector<std::string>{"hinge.q"});
  const double left = 2 * std::sin((std::numbers::pi / 2 - 0.5) / 2);
  EXPECT_NEAR(result->distance_max, left, 1e-9);
  EXPECT_EQ(result->missed, "link 'arm' cannot reach its goal: 1.02 m are left; at their limits: hinge.q");
}

TEST(SpatialKinematics, GoalsOfClosedLoopsKeepThemClosed) {
  SpatialKinematicsOptions options;
  FrameGoal goal;
  goal.frame = "rocker";
  goal.offset = {0.4, 0, 0};
  goal.pose.axis[0] = goal.pose.axis[1] = false;
  goal.pose.X_WG.p = {0, 0, 0.38};  // only a height is asked for
  options.goals = {goal};
  const auto result = spatial_kinematics(model_of(four_bar()), options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_EQ(result->solved, 1) << result->missed;
  EXPECT_LT(result->closure_max, 1e-10);
  const Eigen::Vector4d end = link_matrix(result->trajectory, 0, "rocker") * Eigen::Vector4d(0.4, 0, 0, 1);
  EXPECT_NEAR(end.z(), 0.38, 1e-9);
}

TEST(SpatialKinematics, TableOfGoalsIsFollowedRowByRow) {
  Trajectory table({"hand.x", "hand.y", "hand.z", "hand.qw", "hand.qx", "hand.qy", "hand.qz"});
  for (int k = 0; k < 20; ++k) {
    double* row = table.append(k);
    const double angle = kTurn * k / 20;
    const double values[] = {0.5 + 0.1 * std::cos(angle), 0.1 * std::sin(angle), 0.5, 0, 0, 1, 0};
    std::copy(std::begin(values), std::end(values), row);
  }
  SpatialKinematicsOptions options;
  options.table = table;
  const auto result = spatial_kinematics(model_of(seven_joint_arm()), options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_EQ(result->goals, 20);
  EXPECT_EQ(result->solved, 20) << result->missed;
  for (int k = 0; k < 20; ++k) {
    EXPECT_NEAR(number(result->trajectory, k, "hand.x"), table.at(k, 0), 1e-9);
    EXPECT_NEAR(std::abs(number(result->trajectory, k, "hand.qy")), 1, 1e-9);
    // Warm starts: joints do not leap between neighbours.
    for (int j = 1; j <= 7 && k > 0; ++j) {
      const std::string name = "joint" + std::to_string(j) + ".q";
      EXPECT_LT(std::abs(number(result->trajectory, k, name) - number(result->trajectory, k - 1, name)), 1.0) << k;
    }
  }
}

/// Two hinges about z, links of 1 m.
Robot two_hinges(double q1, double q2) {
  Robot robot;
  const int base = add_link(robot, "base"), upper = add_link(robot, "upper"), lower = add_link(robot, "lower");
  add_joint(robot, "one", JointType::revolute, base, upper, SE3()).initial_q = {q1};
  Joint& two = add_joint(robot, "two", JointType::revolute, upper, lower, pose(1, 0, 0));
  two.initial_q = {q2};
  two.limits = {limits(-1, 1)};
  return robot;
}

TEST(SpatialKinematics, JointsThatNoGoalNeedsStayWhereTheyAre) {
  FrameGoal tip, elbow;  // the same point: as part of the first link, and of the second
  tip.frame = "upper";
  tip.offset = {1, 0, 0};
  elbow.frame = "lower";
  for (FrameGoal goal : {tip, elbow}) {
    SpatialKinematicsOptions options;
    goal.pose.X_WG.p = {0, 1, 0};
    options.goals = {goal};
    const auto result = spatial_kinematics(model_of(two_hinges(0.3, 0.7)), options);
    ASSERT_TRUE(result) << result.failure().to_string();
    EXPECT_EQ(result->solved, 1);
    EXPECT_NEAR(number(result->trajectory, 0, "one.q"), std::numbers::pi / 2, 1e-9);
    EXPECT_EQ(number(result->trajectory, 0, "two.q"), 0.7) << goal.frame;

    // The short way is blocked by a limit: it starts again, at random, and finds the long one.
    Robot blocked = two_hinges(0, 0.7);
    blocked.joints[0].limits = {limits(-0.2, 4)};
    goal.pose.X_WG.p = {std::cos(2.8), -std::sin(2.8), 0};
    options.goals = {goal};
    const auto again = spatial_kinematics(model_of(blocked), options);
    ASSERT_TRUE(again) << again.failure().to_string();
    EXPECT_EQ(again->solved, 1);
    EXPECT_GT(again->starts, 1);
    EXPECT_NEAR(number(again->trajectory, 0, "one.q"), kTurn - 2.8, 1e-8);
    EXPECT_EQ(number(again->trajectory, 0, "two.q"), 0.7) << goal.frame;
  }
}

TEST(SpatialKinematics, TableOfGoalsKeepsItsTimesAndGoesOnAfterAMiss) {
  Trajectory table({"lower.x", "lower.y"});
  const double places[][3] = {{0.5, std::cos(1), std::sin(1)}, {0.75, 3, -3}, {2, std::cos(1.1), std::sin(1.1)}};
  for (const auto& [t, x, y] : places) {
    double* row = table.append(t);
    row[0] = x, row[1] = y;
  }
  SpatialKinematicsOptions options;
  options.table = table;
  options.starts = 1;
  const auto result = spatial_kinematics(model_of(two_hinges(0.3, 0.7)), options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_EQ(result->solved, 2);
  EXPECT_EQ(result->trajectory.times(), (std::vector<double>{0.5, 0.75, 2}));
  EXPECT_NEAR(number(result->trajectory, 1, "one.q"), -std::numbers::pi / 4, 1e-6);  // the nearest, not a start
  EXPECT_NEAR(number(result->trajectory, 2, "one.q"), 1.1, 1e-9);

  // From the row before the miss: the first guess is at rest already, so nothing at all moves.
  for (const int s : {0, 1}) table.at(2, s) = table.at(0, s);
  options.table = table;
  const auto back = spatial_kinematics(model_of(two_hinges(0.3, 0.7)), options);
  ASSERT_TRUE(back) << back.failure().to_string();
  EXPECT_EQ(number(back->trajectory, 2, "one.q"), number(back->trajectory, 0, "one.q"));
}

TEST(SpatialKinematics, PosesBeyondLimitsAreTold) {
  const auto still = spatial_kinematics(model_of(two_hinges(0, 1.5)), {});
  ASSERT_TRUE(still) << still.failure().to_string();
  EXPECT_EQ(still->limits_exceeded, std::vector<std::string>{"two.q: in 1 of 1 poses, by 0.5 at most"});
  SpatialKinematicsOptions options;
  options.move = Move{"two.q", 0, -2, 5};
  const auto moved = spatial_kinematics(model_of(two_hinges(0, 0.5)), options);
  ASSERT_TRUE(moved) << moved.failure().to_string();
  EXPECT_EQ(moved->limits_exceeded, std::vector<std::string>{"two.q: in 2 of 5 poses, by 1 at most"});
  options.move->to = -1;
  EXPECT_EQ(spatial_kinematics(model_of(two_hinges(0, 0.5)), options)->limits_exceeded, std::vector<std::string>{});
}

TEST(SpatialKinematics, FaultsAreTold) {
  const auto fault = [](const Robot& robot, const SpatialKinematicsOptions& options) {
    const auto result = spatial_kinematics(model_of(robot), options);
    EXPECT_FALSE(result);
    if (result) return std::string();
    EXPECT_EQ(result.failure().kind, Failure::Kind::bad_input);
    return result.failure().to_string();
  };
  SpatialKinematicsOptions goal, move, branches, table;
  goal.goals.resize(2);
  goal.goals[0].frame = "hend";
  goal.goals[1].frame = "base";
  EXPECT_EQ(fault(seven_joint_arm(), goal),
            "error: goal: unknown link 'hend'; did you mean 'hand'?\nerror: goal: link 'base' does not move");
  move.move = Move{"joint9.q", 0, 1, 5};
  EXPECT_EQ(fault(seven_joint_arm(), move).substr(0, 56), "error: move: unknown joint coordinate 'joint9.q'; did yo");
  branches.branches = true;
  EXPECT_EQ(fault(seven_joint_arm(), branches),
            "error: branches: the model has no loops: its joints may be chosen freely");
  table.table = Trajectory({"hand.x", "hand.qw", "hnd.z", "hand.vx"});
  EXPECT_EQ(fault(seven_joint_arm(), table),
            "error: unknown link 'hnd'; did you mean 'hand'?\n"
            "error: 'hand.vx': expected x, y, z, qw, qx, qy or qz of a link\n"
            "error: link 'hand': a rotation needs qw, qx, qy and qz");
}

}  // namespace
}  // namespace kinegraph::task::spatial_kinematics_test
