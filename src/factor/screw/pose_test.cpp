#include "kinegraph/factor/screw/pose.hpp"

#include <gtest/gtest.h>

#include "kinegraph/factor/screw/screw_test.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::screw::pose_test {
namespace {

std::vector<Manifold> slots_of(const Body& body) {
  std::vector<Manifold> manifolds = {Manifold::se3()};
  if (body.parent >= 0) manifolds.push_back(Manifold::se3());
  manifolds.push_back(manifold_of(body.joint.type));
  return manifolds;
}

TEST(JointPose, JacobiansMatchDifferencesOnEveryJointBothWays) {
  for (const JointType type : moving_joint_types()) {
    for (const bool reversed : {false, true}) {
      const auto tree = Tree::make(two_links(type, reversed, 3));
      ASSERT_TRUE(tree);
      ASSERT_EQ((*tree)->bodies().size(), 2u);
      for (const Body& body : (*tree)->bodies()) expect_exact_jacobians(JointPose(body), slots_of(body));
    }
  }
}

TEST(JointPose, HoldsWhereForwardKinematicsPutsTheBodies) {
  for (const JointType type : moving_joint_types()) {
    const auto tree = *Tree::make(two_links(type, type != JointType::ball, 5));
    const Body& second = tree->bodies()[1];
    const Manifold manifold = manifold_of(type);
    const SlotValues q = random_values({manifold, manifold}, 7);
    std::vector<double> all = q[0];
    all.insert(all.end(), q[1].begin(), q[1].end());
    Poses poses(2);
    body_poses(*tree, all.data(), poses);
    SlotValues x(2, std::vector<double>(7));
    to_se3(poses[1]).store(x[0].data());
    to_se3(poses[0]).store(x[1].data());
    x.push_back(q[1]);
    for (const double e : residual(JointPose(second), x)) EXPECT_NEAR(e, 0, 1e-13);
  }
}

TEST(JointPose, NamesItsRows) {
  const auto tree = *Tree::make(two_links(JointType::revolute, false, 1));
  EXPECT_EQ(JointPose(tree->bodies()[0]).row_name(1), "pose l1: turn y");
  EXPECT_EQ(JointPose(tree->bodies()[1]).row_name(5), "pose l2: z");
}

}  // namespace
}  // namespace kinegraph::screw::pose_test
