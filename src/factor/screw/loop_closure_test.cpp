#include "kinegraph/factor/screw/loop_closure.hpp"

#include <gtest/gtest.h>

#include "kinegraph/factor/screw/screw_test.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::screw::loop_closure_test {
namespace {

/// Two links on ball joints, tied to each other and to the ground by joints of a type.
Robot looped(JointType type) {
  Robot robot = two_links(JointType::ball, false, 11);
  robot.joints[1].parent = LinkIndex{0};
  for (int i = 0; i < 2; ++i) {
    Joint joint = two_links(type, false, 12 + i).joints[0];
    joint.name = i == 0 ? "tie" : "anchor";
    joint.parent = i == 0 ? LinkIndex{1} : LinkIndex{0};
    joint.child = LinkIndex{2};
    joint.closes_loop = true;
    robot.joints.push_back(joint);
  }
  return robot;
}

std::vector<Manifold> slots_of(const Loop& loop) {
  std::vector<Manifold> manifolds;
  if (loop.a >= 0) manifolds.push_back(Manifold::se3());
  if (loop.b >= 0) manifolds.push_back(Manifold::se3());
  if (loop.via.freedoms > 0) manifolds.push_back(manifold_of(loop.via.type));
  return manifolds;
}

TEST(LoopClosure, JacobiansMatchDifferencesOnEveryJoint) {
  std::vector<JointType> types = moving_joint_types();
  types.push_back(JointType::fixed);
  for (const JointType type : types) {
    const auto tree = *Tree::make(looped(type));
    ASSERT_EQ(tree->loops().size(), 2u) << to_string(type);
    EXPECT_GE(tree->loops()[0].a, 0);
    EXPECT_LT(tree->loops()[1].a, 0);
    for (const Loop& loop : tree->loops()) expect_exact_jacobians(LoopClosure(loop), slots_of(loop));
  }
}

TEST(LoopClosure, IsTheClosureOfTheTree) {
  const auto tree = *Tree::make(looped(JointType::universal));
  const SlotValues q = random_values({Manifold::so3(), Manifold::so3(), Manifold::real(2), Manifold::real(2)}, 2);
  std::vector<double> all;
  for (const auto& part : q) all.insert(all.end(), part.begin(), part.end());
  Poses poses(2);
  body_poses(*tree, all.data(), poses);
  double open[12];
  closure(*tree, all.data(), poses, open);
  for (int l = 0; l < 2; ++l) {
    const Loop& loop = tree->loops()[l];
    SlotValues x;
    for (const int body : {loop.a, loop.b}) {
      if (body < 0) continue;
      x.emplace_back(7);
      to_se3(poses[body]).store(x.back().data());
    }
    x.push_back(q[2 + l]);
    const auto e = residual(LoopClosure(loop), x);
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(e[i], open[6 * l + i], 1e-12);
  }
  EXPECT_EQ(LoopClosure(tree->loops()[0]).row_name(3), "loop tie: x");
}

}  // namespace
}  // namespace kinegraph::screw::loop_closure_test
