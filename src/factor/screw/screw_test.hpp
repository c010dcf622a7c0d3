#pragma once

// Robots for the tests of factors on joints and poses.

#include <random>
#include <vector>

#include "kinegraph/factor/common/curvature_test.hpp"
#include "kinegraph/factor/common/factor_test.hpp"
#include "kinegraph/factor/screw/joint_slots.hpp"

namespace kinegraph::screw {

inline SE3 random_pose(std::mt19937& random, double size = 1) {
  std::normal_distribution<double> normal;
  SE3::Tangent x;
  for (int i = 0; i < 6; ++i) x[i] = size * normal(random);
  return SE3::exp(x);
}

/// Two links behind each other, both by a joint of a type, the second turned round if asked for.
inline Robot two_links(JointType type, bool reversed, unsigned seed) {
  std::mt19937 random(seed);
  Robot robot;
  robot.links.resize(3);
  for (int i = 0; i < 3; ++i) robot.links[i].name = "l" + std::to_string(i);
  for (int i = 0; i < 2; ++i) {
    Joint joint;
    joint.name = "j" + std::to_string(i);
    joint.type = type;
    joint.parent = LinkIndex{i};
    joint.child = LinkIndex{i + 1};
    if (i == 1 && reversed) std::swap(joint.parent, joint.child);
    joint.X_PF = random_pose(random);
    joint.X_CM = random_pose(random);
    joint.axis = SO3(random_pose(random).rotation()).matrix().col(0);
    joint.axis2 = SO3(random_pose(random).rotation()).matrix().col(1);
    joint.pitch = 0.3;
    robot.joints.push_back(joint);
  }
  return robot;
}

/// Numbers for the slots of a factor, on their manifolds.
inline SlotValues random_values(const std::vector<Manifold>& manifolds, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  SlotValues values;
  for (const Manifold& manifold : manifolds) {
    std::vector<double> zero(manifold.stored(), 0.0), delta(manifold.tangent());
    if (manifold.stored() > manifold.tangent()) zero[0] = 1;
    for (double& d : delta) d = 0.7 * normal(random);
    manifold.retract(zero.data(), delta.data(), zero.data());
    values.push_back(std::move(zero));
  }
  return values;
}

/// The Jacobian is right at several values where the residual is not zero.
inline void expect_exact_jacobians(const Factor& factor, const std::vector<Manifold>& manifolds,
                                   const std::vector<int>& known = {}) {
  JacobianCheckOptions options;
  options.manifolds = manifolds;
  options.known_slots = known;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const SlotValues x = random_values(manifolds, seed);
    double size = 0;
    for (const double e : residual(factor, x)) size += std::abs(e);
    EXPECT_GT(size, 1e-3);
    const JacobianCheck check = check_jacobians(factor, x, options);
    EXPECT_TRUE(check.ok()) << factor.name() << ", seed " << seed << "\n" << check.message;
  }
}

/// And the curvature, where the factor knows it.
inline void expect_exact_curvatures(const Factor& factor, const std::vector<Manifold>& manifolds) {
  for (unsigned seed = 1; seed <= 3; ++seed) expect_exact_curvature(factor, random_values(manifolds, seed), manifolds);
}

inline const std::vector<JointType>& moving_joint_types() {
  static const std::vector<JointType> types = {JointType::revolute,  JointType::prismatic, JointType::screw,
                                               JointType::universal, JointType::planar,    JointType::cylindrical,
                                               JointType::ball,      JointType::floating,  JointType::continuous};
  return types;
}

}  // namespace kinegraph::screw
