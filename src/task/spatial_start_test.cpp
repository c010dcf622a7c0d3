#include "kinegraph/task/spatial_start.hpp"

#include <gtest/gtest.h>

#include "kinegraph/build/kinematics.hpp"
#include "kinegraph/solve/optimizer.hpp"
#include "kinegraph/task/linkages_test.hpp"

namespace kinegraph::task::spatial_start_test {
using namespace linkages;
namespace {

std::shared_ptr<const screw::Tree> tree_of(const Robot& robot) {
  auto tree = screw::Tree::make(robot);
  EXPECT_TRUE(tree);
  return *tree;
}

double open(const screw::Tree& tree, const Eigen::VectorXd& q) {
  screw::Poses poses(tree.bodies().size());
  screw::body_poses(tree, q.data(), poses);
  Eigen::VectorXd e(6 * tree.loops().size());
  screw::closure(tree, q.data(), poses, e.data());
  return e.cwiseAbs().maxCoeff();
}

TEST(CloseLoops, BennettFromAside) {
  const auto tree = tree_of(bennett());
  Eigen::VectorXd guess = tree->start_position();
  EXPECT_LT(open(*tree, guess), 1e-12);
  for (int i = 0; i < 4; ++i) guess[i] += 0.15 * std::sin(3.0 * i + 1);
  EXPECT_GT(open(*tree, guess), 1e-2);
  const auto q = close_loops(*tree, guess, {});
  ASSERT_TRUE(q) << q.failure().to_string();
  EXPECT_LT(open(*tree, *q), 1e-13);
  EXPECT_LT((*q - guess).cwiseAbs().maxCoeff(), 0.5);
}

TEST(CloseLoops, HeldFreedomsKeepTheirBits) {
  const auto tree = tree_of(four_bar());
  Eigen::VectorXd guess = tree->start_position();
  EXPECT_LT(open(*tree, guess), 1e-12);
  guess[0] = 0.3;
  const auto q = close_loops(*tree, guess, {{0}});
  ASSERT_TRUE(q);
  EXPECT_EQ((*q)[0], 0.3);
  EXPECT_LT(open(*tree, *q), 1e-13);
}

TEST(CloseLoops, SaysWhichLoopStaysOpenAndByHowMuch) {
  Robot robot = four_bar();
  robot.joints[3].X_PF = pose(5, 0, 0);  // a coupler ten times too long
  const auto q = close_loops(*tree_of(robot), tree_of(robot)->start_position(), {});
  ASSERT_FALSE(q);
  EXPECT_EQ(q.failure().kind, Failure::Kind::no_answer);
  const std::string message = q.failure().to_string();
  // The best it can do: all in one line, 5 − (0.2 + 0.5 + 0.4) = 3.9 m apart.
  EXPECT_NE(message.find("cannot be assembled: loop 'end' stays open by 3.9 m"), std::string::npos) << message;
}

/// The graph of poses and joints, loops hard, least change: the same answer.
TEST(CloseLoops, AgreesWithTheGraph) {
  for (const Robot& robot : {bennett(), four_bar()}) {
    const auto tree = tree_of(robot);
    Eigen::VectorXd guess = tree->start_position();
    for (int i = 0; i < 4; ++i) guess[i] += 0.02 * std::sin(3.0 * i + 1);
    build::KinematicsGraph problem(tree, guess);
    problem.hold(0);
    problem.stay(1);
    const auto report = optimize(problem.graph, problem.values);
    ASSERT_TRUE(report) << report.failure().to_string();
    EXPECT_TRUE(report->converged()) << report->to_string();
    EXPECT_LT(open(*tree, problem.position()), 1e-10);
    const auto q = close_loops(*tree, guess, {{0}});
    ASSERT_TRUE(q);
    EXPECT_LT((*q - problem.position()).cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(CloseVelocities, LeastChangeThatKeepsTheLoopsClosed) {
  const auto tree = tree_of(bennett());
  const Eigen::VectorXd q = tree->start_position();
  const auto v = close_velocities(*tree, q, Eigen::Vector4d(1, 0, 0, 0), {{0}});
  ASSERT_TRUE(v);
  EXPECT_EQ((*v)[0], 1);
  // θ₁ + θ₃ and θ₂ + θ₄ do not change.
  EXPECT_NEAR((*v)[2], -1, 1e-10);
  EXPECT_NEAR((*v)[1] + (*v)[3], 0, 1e-10);
  const auto refused = close_velocities(*tree, q, Eigen::Vector4d(1, 0, 0, 0), {{0}, {2}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.failure().to_string().find("the initial rates contradict each other: loop 'j4' opens with"),
            std::string::npos);
}

TEST(SpatialMobility, OverconstrainedLoopsMove) {
  for (const Robot& robot : {bennett(), four_bar()}) {
    const auto tree = tree_of(robot);
    const SpatialMobility mobility = spatial_mobility(*tree, tree->start_position());
    EXPECT_EQ(mobility.freedoms, 1);
    EXPECT_EQ(mobility.closure_equations, 5);
    EXPECT_EQ(mobility.rank, 2);
    EXPECT_EQ(mobility.rank_here, 2);
    EXPECT_EQ(mobility.independent.size(), 1u);
    EXPECT_EQ(mobility.independent[0], 0);
    const std::string name = robot.joints[3].name;
    EXPECT_EQ(mobility.redundant, std::vector<std::string>{"loop " + name + ": 3 of 5 equations"});
  }
}

TEST(SpatialMobility, SingularPositionsGiveNoFalseAlarm) {
  // A rhombus of equal links folded flat is singular; it moves with one freedom beside that.
  Robot robot = four_bar();
  for (int i : {1, 2}) robot.joints[i].X_PF = pose(0.4, 0, 0);
  robot.joints[3].X_PF = pose(0.4, 0, 0);
  robot.joints[3].X_CM = pose(0.4, 0, 0);
  const auto tree = tree_of(robot);
  ASSERT_LT(open(*tree, tree->start_position()), 1e-14);
  const SpatialMobility mobility = spatial_mobility(*tree, tree->start_position());
  EXPECT_EQ(mobility.freedoms, 1);
  EXPECT_EQ(mobility.rank, 2);
  EXPECT_LT(mobility.rank_here, 2);
}

TEST(SpatialMobility, OpenChainsAreFree) {
  const auto tree = tree_of(seven_joint_arm());
  const SpatialMobility mobility = spatial_mobility(*tree, tree->start_position());
  EXPECT_EQ(mobility.freedoms, 7);
  EXPECT_EQ(mobility.rank, 0);
  EXPECT_EQ(mobility.independent, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(mobility.redundant.empty());
}

TEST(SpatialStart, InitialValuesAreHeldAndLoopsClosed) {
  Robot robot = four_bar();
  robot.joints[0].initial_q = {2.0};
  robot.joints[0].initial_v = {3.0};
  const auto start = make_spatial_start(model_of(robot));
  ASSERT_TRUE(start) << start.failure().to_string();
  EXPECT_EQ(start->q[0], 2.0);
  EXPECT_EQ(start->v[0], 3.0);
  EXPECT_LT(open(*start->tree, start->q), 1e-12);
  Eigen::MatrixXd J;
  screw::Poses poses(3);
  screw::body_poses(*start->tree, start->q.data(), poses);
  screw::closure_jacobian(*start->tree, start->q.data(), poses, J);
  EXPECT_LT((J * start->v).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(SpatialStart, ValuesThatContradictTheLoopsAreTold) {
  Robot robot = four_bar();
  robot.joints[0].initial_q = {0.1};
  robot.joints[2].initial_q = {1.5};
  const auto start = make_spatial_start(model_of(robot));
  ASSERT_FALSE(start);
  EXPECT_EQ(start.failure().kind, Failure::Kind::no_answer);
}

TEST(SpatialStart, RoundedValuesOfAllJointsAreTaken) {
  Robot robot = bennett();
  for (Joint& joint : robot.joints) joint.initial_q[0] = std::round(1e6 * joint.initial_q[0]) / 1e6;
  const auto start = make_spatial_start(model_of(robot));
  ASSERT_TRUE(start) << start.failure().to_string();
  EXPECT_LT(open(*start->tree, start->q), 1e-12);
  EXPECT_NEAR(start->q[1], robot.joints[1].initial_q[0], 1e-5);
}

/// A planar loop whose closing axis is parallel to the others but for the digits of "1.5708".
TEST(SpatialStart, AxesParallelToTheDigitsOfTheFileCountAsParallel) {
  for (const double tilt : {1e-11, 1e-9, 2.7e-8, 3.7e-6}) {
    Robot straight = four_bar(), robot = four_bar();
    robot.joints.back().axis = (robot.joints.back().axis + tilt * Eigen::Vector3d(1, 0.3, 0)).normalized();
    const auto expected = make_spatial_start(model_of(straight)), start = make_spatial_start(model_of(robot));
    ASSERT_TRUE(start) << tilt << ": " << start.failure().to_string();
    EXPECT_EQ(start->mobility.freedoms, 1) << tilt;
    for (Eigen::Index i = 0; i < expected->q.size(); ++i) EXPECT_NEAR(start->q[i], expected->q[i], 1e-4) << tilt;
  }
}

}  // namespace
}  // namespace kinegraph::task::spatial_start_test
