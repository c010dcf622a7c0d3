#include <gtest/gtest.h>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/motion.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"

namespace kinegraph::screw::tree_test {
namespace {

std::shared_ptr<const Tree> tree_of(const Robot& robot) { return *Tree::make(robot); }

TEST(Tree, MergesLinksThatDoNotMoveAgainstEachOther) {
  RandomRobot r(1);
  r.grow({JointType::revolute, JointType::fixed, JointType::revolute}, true);
  const auto tree = tree_of(r.robot);
  ASSERT_EQ(tree->bodies().size(), 2u);
  EXPECT_EQ(tree->links()[0].body, -1);
  EXPECT_EQ(tree->links()[1].body, 0);
  EXPECT_EQ(tree->links()[2].body, 0);
  EXPECT_EQ(tree->links()[3].body, 1);
  EXPECT_NEAR(tree->bodies()[0].mass, r.robot.links[1].inertia.mass + r.robot.links[2].inertia.mass, 1e-15);
  EXPECT_NEAR(tree->mass(), tree->bodies()[0].mass + tree->bodies()[1].mass, 1e-15);
}

TEST(Tree, PlacesLinksAsTheJointsSay) {
  RandomRobot r(2);
  r.grow(all_moving_types());
  const auto tree = tree_of(r.robot);
  const Eigen::VectorXd q = r.position(*tree);
  Poses poses(tree->bodies().size());
  body_poses(*tree, q.data(), poses);
  for (std::size_t j = 0; j < r.robot.joints.size(); ++j) {
    const Joint& joint = r.robot.joints[j];
    const Transform<double> X_FM =
        (link_pose(*tree, poses, joint.parent.value) * Transform<double>(joint.X_PF)).inverse() *
        link_pose(*tree, poses, joint.child.value) * Transform<double>(joint.X_CM);
    if (joint.type == JointType::fixed) EXPECT_LT((X_FM.R - Matrix3d::Identity()).norm() + X_FM.p.norm(), 1e-13);
    const int c = tree->find_coordinate(joint.name);
    if (joint.type == JointType::revolute || joint.type == JointType::screw) {
      const double angle = q[tree->coordinates()[c].q];
      EXPECT_LT((X_FM.R - SO3::exp(angle * joint.axis).matrix()).norm(), 1e-13) << joint.name;
      EXPECT_LT((X_FM.p - (joint.type == JointType::screw ? joint.pitch * angle : 0) * joint.axis).norm(), 1e-13);
    }
    if (joint.type == JointType::prismatic)
      EXPECT_LT((X_FM.p - q[tree->coordinates()[c].q] * joint.axis).norm(), 1e-13);
    if (joint.type == JointType::universal) {
      const double* a = q.data() + tree->coordinates()[c].q;
      EXPECT_LT((X_FM.R - (SO3::exp(a[0] * joint.axis) * SO3::exp(a[1] * joint.axis2)).matrix()).norm(), 1e-13);
    }
  }
}

/// A joint whose parent hangs on its child means the same as one drawn the other way round.
TEST(Tree, FollowsJointsAgainstTheirDirection) {
  for (const JointType type : all_moving_types()) {
    if (type == JointType::fixed) continue;
    RandomRobot r(3);
    const int a = r.link("a"), b = r.link("b"), c = r.link("c");
    r.joint(JointType::revolute, a, b);
    r.joint(type, c, b);  // c is reached from b
    r.robot.joints[0].parent = LinkIndex();
    r.robot.joints[0].child = LinkIndex(b);
    r.robot.joints[1].parent = LinkIndex(c);
    const auto tree = tree_of(r.robot);
    const Eigen::VectorXd q = r.position(*tree), v = r.velocity(*tree);
    const auto X_FM = [&](const Eigen::VectorXd& at) {
      Poses poses(tree->bodies().size());
      body_poses(*tree, at.data(), poses);
      const Joint& joint = r.robot.joints[1];
      return (link_pose(*tree, poses, c) * Transform<double>(joint.X_PF)).inverse() * link_pose(*tree, poses, b) *
             Transform<double>(joint.X_CM);
    };
    const Coordinate& moved = tree->coordinates()[tree->find_coordinate("j2")];
    if (type == JointType::ball) {
      EXPECT_LT((X_FM(q).R - SO3::load(q.data() + moved.q).matrix()).norm(), 1e-13);
    }
    if (type == JointType::revolute) {
      EXPECT_LT((X_FM(q).R - SO3::exp(q[moved.q] * r.robot.joints[1].axis).matrix()).norm(), 1e-13);
    }
    // and its twist is the rate of the pose
    std::vector<Vector6d> twists(tree->bodies().size());
    body_twists(*tree, q.data(), v.data(), twists);
    const int body = tree->links()[c].body;
    const double h = 1e-5;
    const auto pose = [&](double t) {
      Eigen::VectorXd step = t * v, moved_q = q;
      tree->retract(q.data(), step.data(), moved_q.data());
      Poses poses(tree->bodies().size());
      body_poses(*tree, moved_q.data(), poses);
      return SE3(SO3(poses[body].R), poses[body].p).matrix();
    };
    EXPECT_LT(((pose(h) - pose(-h)) / (2 * h) - pose(0) * SE3::hat(twists[body])).norm(), 1e-8) << to_string(type);
  }
}

TEST(Tree, SharesTheCoordinateOfAJointThatIsMimicked) {
  RandomRobot r(4);
  r.grow({JointType::revolute, JointType::revolute, JointType::prismatic}, true);
  r.robot.joints[1].mimic = Mimic{JointIndex(0), -0.5, 0.1};
  r.robot.joints[2].mimic = Mimic{JointIndex(1), 3, 0.2};
  const auto tree = tree_of(r.robot);
  EXPECT_EQ(tree->freedoms(), 1);
  EXPECT_DOUBLE_EQ(tree->bodies()[1].joint.ratio, -0.5);
  EXPECT_DOUBLE_EQ(tree->bodies()[1].joint.offset, 0.1);
  EXPECT_DOUBLE_EQ(tree->bodies()[2].joint.ratio, -1.5);
  EXPECT_DOUBLE_EQ(tree->bodies()[2].joint.offset, 0.5);
}

/// τ = Σ k · (what acts along a joint at k q + o): the leader's coordinate carries it all.
TEST(Tree, WhatActsOnAJointThatMimicsActsOnItsLeader) {
  RandomRobot r(4);
  r.grow({JointType::revolute, JointType::revolute}, true);
  const JointDynamics first{0.3, 0, 2, 0.1, 0.05}, second{5, 2, 3, -0.2, 0.02};
  r.robot.joints[0].dynamics = {first};
  r.robot.joints[1].dynamics = {second};
  r.robot.joints[1].limits = {JointLimits{-1, 0.5, 4, 10}};
  r.robot.joints[1].mimic = Mimic{JointIndex(0), -2, 0.1};
  const auto tree = tree_of(r.robot);
  const JointDynamics& both = tree->coordinates()[0].dynamics[0];
  const double q = 0.37, v = 1.9;
  const double expected = joint_force(first, q, v) - 2 * joint_force(second, -2 * q + 0.1, -2 * v);
  EXPECT_NEAR(joint_force(both, q, v), expected, 1e-12);
  EXPECT_DOUBLE_EQ(both.armature, 0.05 + 4 * 0.02);
  EXPECT_DOUBLE_EQ(tree->coordinates()[0].limits[0].lower, -0.2);
  EXPECT_DOUBLE_EQ(tree->coordinates()[0].limits[0].upper, 0.55);
}

TEST(Tree, FindsLoopsAndWhatTheyTie) {
  RandomRobot r(5);
  r.grow({JointType::revolute, JointType::revolute, JointType::revolute, JointType::revolute}, true);
  r.joint(JointType::revolute, 3, 0).closes_loop = true;
  const auto tree = tree_of(r.robot);
  ASSERT_EQ(tree->loops().size(), 1u);
  EXPECT_EQ(tree->freedoms(), 5);
  EXPECT_EQ(tree->tree_freedoms(), 4);
  for (const char* name : {"j1", "j2", "j3", "j5"})
    EXPECT_TRUE(tree->coordinates()[tree->find_coordinate(name)].in_loop);
  EXPECT_FALSE(tree->coordinates()[tree->find_coordinate("j4")].in_loop);
}

TEST(Tree, FloatsWhereNothingTiesIt) {
  RandomRobot r(6);
  r.grow({JointType::revolute}, true);
  r.robot.base = Robot::Base::floating;
  r.robot.X_WL = {SE3(SO3::exp(Vector3d(0, 0, 0.3)), Vector3d(1, 2, 3)), SE3()};
  const auto tree = tree_of(r.robot);
  EXPECT_EQ(tree->freedoms(), 7);
  EXPECT_EQ(tree->coordinates()[0].name, "base");
  EXPECT_DOUBLE_EQ(tree->start_position()[4], 1);
  EXPECT_EQ(tree->position_names()[4], "base.x");
  EXPECT_EQ(tree->velocity_names()[0], "base.wx");
}

TEST(Kinematics, JacobiansAreTheRatesOfThePoses) {
  RandomRobot r(7);
  r.grow(all_moving_types());
  r.joint(JointType::universal, 4, 9).closes_loop = true;
  r.joint(JointType::fixed, 5, 7).closes_loop = true;
  const auto tree = tree_of(r.robot);
  Eigen::VectorXd q = r.position(*tree);
  const Eigen::VectorXd v = r.velocity(*tree);
  Poses poses(tree->bodies().size());
  body_poses(*tree, q.data(), poses);
  std::vector<Vector6d> twists(tree->bodies().size());
  body_twists(*tree, q.data(), v.data(), twists);
  Eigen::MatrixXd J;
  for (std::size_t i = 0; i < twists.size(); ++i) {
    body_jacobian(*tree, q.data(), poses, static_cast<int>(i), J);
    EXPECT_LT((J * v - twists[i]).norm(), 1e-12);
  }
}

/// Momentum and kinetic energy from the centres of mass.
TEST(Kinematics, MomentumIsThatOfTheBodies) {
  RandomRobot r(8);
  r.grow({JointType::ball, JointType::revolute, JointType::prismatic});
  r.robot.base = Robot::Base::floating;
  const auto tree = tree_of(r.robot);
  const Eigen::VectorXd q = r.position(*tree), v = r.velocity(*tree);
  Poses poses(tree->bodies().size());
  std::vector<Vector6d> twists(tree->bodies().size());
  body_poses(*tree, q.data(), poses);
  body_twists(*tree, q.data(), v.data(), twists);
  Vector3d linear = Vector3d::Zero();
  double kinetic = 0;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    const Body& body = tree->bodies()[i];
    const Vector3d com_rate = poses[i].R * (twists[i].tail<3>() + twists[i].head<3>().cross(body.com));
    linear += body.mass * com_rate;
    const Matrix3d c = skew<double>(body.com);
    const Matrix3d about_com = body.inertia.topLeftCorner<3, 3>() + body.mass * c * c;
    kinetic +=
        0.5 * body.mass * com_rate.squaredNorm() + 0.5 * twists[i].head<3>().dot(about_com * twists[i].head<3>());
  }
  EXPECT_LT((momentum(*tree, q.data(), v.data()).tail<3>() - linear).norm(), 1e-12);
  EXPECT_NEAR(energy(*tree, q.data(), v.data()).kinetic, kinetic, 1e-12);
}

TEST(Motion, BiasIsTheRateOfTheTwistAtConstantRates) {
  RandomRobot r(9);
  r.grow(all_moving_types());
  r.joint(JointType::planar, 3, 8).closes_loop = true;
  const auto tree = tree_of(r.robot);
  const Eigen::VectorXd q = r.position(*tree), v = r.velocity(*tree);
  Motion motion(tree);
  Surroundings surroundings;
  motion.set(q.data(), v.data(), surroundings);
  const double h = 1e-5;
  const auto twists_at = [&](double t) {
    Eigen::VectorXd step = t * v, moved = q;
    tree->retract(q.data(), step.data(), moved.data());
    std::vector<Vector6d> twists(tree->bodies().size());
    body_twists(*tree, moved.data(), v.data(), twists);
    return twists;
  };
  const auto after = twists_at(h), before = twists_at(-h);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const int p = tree->bodies()[i].parent;
    const Vector6d rate = (after[i] - before[i]) / (2 * h);
    Vector6d expected = motion.body(static_cast<int>(i)).c;
    if (p >= 0) expected += motion.body(static_cast<int>(i)).X_PB.twist_back((after[p] - before[p]) / (2 * h));
    EXPECT_LT((rate - expected).norm(), 1e-7) << i;
  }
}

}  // namespace
}  // namespace kinegraph::screw::tree_test
