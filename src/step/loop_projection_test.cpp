#include "kinegraph/step/loop_projection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kinegraph::step::loop_projection_test {
namespace {

/// A four-bar of hinges about z, its plane turned in space. With `floating`, its frame is a link that flies. Drawn: a
/// square of side 1, all angles zero.
Robot four_bar(bool floating) {
  Robot robot;
  const SE3 tilt(SO3::exp({0.4, -0.3, 0.2}), {0, 0, 0});
  const Vector3d corner[] = {{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, 0, 0}};
  const auto add_link = [&](const std::string& name, const Vector3d& com) {
    Link link;
    link.name = name;
    link.inertia = {1.5, com, Vector3d(0.01, 0.02, 0.1).asDiagonal()};
    robot.links.push_back(link);
    robot.X_WL.push_back(tilt);
    return LinkIndex(static_cast<int>(robot.links.size()) - 1);
  };
  const auto add_joint = [&](const std::string& name, LinkIndex parent, LinkIndex child, const Vector3d& at) {
    Joint joint;
    joint.name = name;
    joint.type = JointType::revolute;
    joint.parent = parent;
    joint.child = child;
    joint.X_PF = parent.valid() ? SE3(SO3(), at) : tilt * SE3(SO3(), at);
    joint.X_CM = SE3(SO3(), at);
    joint.axis = Vector3d::UnitZ();
    robot.joints.push_back(joint);
  };
  robot.base = floating ? Robot::Base::floating : Robot::Base::fixed;
  const LinkIndex frame = floating ? add_link("frame", {0.5, 0, 0}) : LinkIndex();
  const LinkIndex crank = add_link("crank", {0, 0.4, 0}), coupler = add_link("coupler", {0.4, 1, 0}),
                  rocker = add_link("rocker", {1, 0.6, 0});
  add_joint("a", frame, crank, corner[0]);
  add_joint("b", crank, coupler, corner[1]);
  add_joint("c", coupler, rocker, corner[2]);
  add_joint("d", frame, rocker, corner[3]);
  robot.joints.back().closes_loop = true;
  return robot;
}

class Projection : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    tree = *screw::Tree::make(four_bar(GetParam()));
    ASSERT_EQ(tree->loops().size(), 1u);
    rank = 2;  // three angles of the tree, one freedom
    q = tree->start_position();
    v = Eigen::VectorXd::Zero(tree->freedoms());
    // A position away from the square, where the loop has its full rank: moved, then closed.
    delta = Eigen::VectorXd::Zero(tree->freedoms());
    delta[tree->coordinates()[tree->find_coordinate("a")].v] = -0.4;
    LoopProjection loops(tree, rank);
    for (int i = 0; i < 4; ++i) {
      loops.prepare(q.data());
      tree->retract(q.data(), (delta / 4).eval().data(), q.data());
      ASSERT_TRUE(loops.project(q.data(), v.data()));
    }
  }
  Eigen::VectorXd random(double size) {
    std::normal_distribution<double> normal;
    Eigen::VectorXd x(tree->freedoms());
    for (double& e : x) e = size * normal(generator);
    return x;
  }
  std::mt19937 generator{5};
  std::shared_ptr<const screw::Tree> tree;
  int rank = 0;
  Eigen::VectorXd q, v, delta;
};

TEST_P(Projection, ClosesPositionsAndVelocities) {
  LoopProjection loops(tree, rank);
  loops.prepare(q.data());
  const Eigen::VectorXd move = random(1e-3);
  tree->retract(q.data(), move.data(), q.data());
  v = random(1);
  EXPECT_GT(loops.opening(q.data()).metres, 1e-4);
  ASSERT_TRUE(loops.project(q.data(), v.data()));
  EXPECT_EQ(loops.factorisations(), 1);  // reused
  EXPECT_LT(loops.opening(q.data()).metres, 1e-13);
  EXPECT_LT(loops.opening(q.data()).radians, 1e-13);
  screw::Poses poses(tree->bodies().size());
  Eigen::MatrixXd jacobian;
  screw::body_poses(*tree, q.data(), poses);
  screw::closure_jacobian(*tree, q.data(), poses, jacobian);
  EXPECT_LT((jacobian * v).norm(), 1e-12);
  EXPECT_GT(v.norm(), 0.1);
}

/// The change of v is M-orthogonal to every velocity that keeps the loop closed: it is an impulse of the loop.
TEST_P(Projection, ChangesVelocitiesAsAnImpulseWould) {
  LoopProjection loops(tree, rank);
  loops.prepare(q.data());
  const Eigen::VectorXd before = random(1);
  v = before;
  ASSERT_TRUE(loops.project(q.data(), v.data()));
  screw::MassMatrix mass(tree);
  const Eigen::MatrixXd M = mass.at(q.data());
  for (int i = 0; i < 3; ++i) {
    Eigen::VectorXd allowed = random(1);
    ASSERT_TRUE(loops.project(q.data(), allowed.data()));
    EXPECT_NEAR(allowed.dot(M * (v - before)), 0, 1e-8);  // 1e-10 of M keeps links without mass solvable
  }
  if (!GetParam()) return;
  // Nothing outside: momentum stays. The smallest change of the numbers of v would not keep it.
  const auto change = [&](const Eigen::VectorXd& after) {
    return (screw::momentum(*tree, q.data(), after.data()) - screw::momentum(*tree, q.data(), before.data())).norm();
  };
  EXPECT_LT(change(v), 1e-8);
  LoopProjection plain(tree, rank, LoopProjection::Weight::none);
  plain.prepare(q.data());
  v = before;
  ASSERT_TRUE(plain.project(q.data(), v.data()));
  EXPECT_GT(change(v), 1e-3);
}

TEST_P(Projection, SaysWhichLoopStaysOpen) {
  LoopProjection loops(tree, rank);
  loops.prepare(q.data());
  q[tree->coordinates()[tree->find_coordinate("b")].q] = std::nan("");
  EXPECT_FALSE(loops.project(q.data(), v.data()));
  EXPECT_EQ(loops.worst().loop, 0);
}

INSTANTIATE_TEST_SUITE_P(FourBar, Projection, ::testing::Bool());

}  // namespace
}  // namespace kinegraph::step::loop_projection_test
