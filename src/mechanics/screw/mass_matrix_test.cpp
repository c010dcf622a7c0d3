#include "kinegraph/mechanics/screw/mass_matrix.hpp"

#include <gtest/gtest.h>

#include <random>

#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::screw::mass_matrix_test {
namespace {

Link link(const std::string& name, double mass) {
  Link l;
  l.name = name;
  l.has_inertia = true;
  l.inertia.mass = mass;
  l.inertia.com = {0.1, -0.2, 0.3 * mass};
  l.inertia.about_com = Vector3d(0.1, 0.15, 0.2).asDiagonal();
  return l;
}

Joint joint(const std::string& name, JointType type, int parent, int child) {
  Joint j;
  j.name = name;
  j.type = type;
  j.parent = LinkIndex(parent);
  j.child = LinkIndex(child);
  j.X_PF = SE3(SO3::exp({0.3, 0.1 * child, -0.2}), {0.1, 0.2, 0.3});
  j.X_CM = SE3(SO3::exp({-0.1, 0.2, 0.1 * child}), {0.05, 0, -0.1});
  j.axis = Vector3d(1, 2, 3).normalized();
  j.axis2 = j.axis.cross(Vector3d::UnitX()).normalized();
  return j;
}

/// A floating base with two branches of joints of several kinds; one of them mimics a joint above it.
Robot zoo() {
  Robot robot;
  robot.base = Robot::Base::floating;
  for (int i = 0; i < 7; ++i) robot.links.push_back(link("l" + std::to_string(i), 1 + 0.3 * i));
  robot.joints = {joint("a", JointType::revolute, 0, 1),    joint("b", JointType::ball, 1, 2),
                  joint("c", JointType::prismatic, 2, 3),   joint("d", JointType::universal, 0, 4),
                  joint("e", JointType::cylindrical, 4, 5), joint("f", JointType::revolute, 3, 6)};
  robot.joints[5].mimic = Mimic{JointIndex(0), -0.5, 0.2};
  robot.joints[0].dynamics.resize(1);
  robot.joints[0].dynamics[0].armature = 0.7;
  return robot;
}

TEST(MassMatrix, GivesTheKineticEnergy) {
  const auto tree = Tree::make(zoo());
  ASSERT_TRUE(tree);
  MassMatrix mass(*tree);
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Eigen::VectorXd q = (*tree)->start_position(), v(q.size() - 2), delta(v.size());
  ASSERT_EQ(v.size(), (*tree)->freedoms());
  for (int trial = 0; trial < 10; ++trial) {
    for (double& x : delta) x = normal(random);
    for (double& x : v) x = normal(random);
    (*tree)->retract(q.data(), delta.data(), q.data());
    const Eigen::MatrixXd& M = mass.at(q.data());
    const double kinetic = energy(**tree, q.data(), v.data()).kinetic;
    EXPECT_NEAR(0.5 * v.dot(M * v), kinetic, 1e-12 * kinetic);
    EXPECT_LT((M - M.transpose()).norm(), 1e-12 * M.norm());
  }
}

}  // namespace
}  // namespace kinegraph::screw::mass_matrix_test
