#pragma once

// A robot for the tests of factors on whole robots: a body that may float, with two legs of two joints each.

#include "kinegraph/factor/screw/screw_test.hpp"
#include "kinegraph/factor/screw/state_slots.hpp"

namespace kinegraph::screw {

inline std::shared_ptr<const Tree> walker(Robot::Base base) {
  std::mt19937 random(5);
  Robot robot;
  robot.base = base;
  for (int i = 0; i < 5; ++i) {
    Link link;
    link.name = "l" + std::to_string(i);
    link.has_inertia = true;
    link.inertia = {1 + 0.2 * i, {0.1, -0.05, 0.02 * i}, Vector3d(0.02, 0.03, 0.04).asDiagonal()};
    robot.links.push_back(link);
  }
  const int parents[] = {0, 1, 0, 3};
  for (int i = 0; i < 4; ++i) {
    Joint joint;
    joint.name = "j" + std::to_string(i);
    joint.type = i == 3 ? JointType::prismatic : JointType::revolute;
    joint.parent = LinkIndex{parents[i]};
    joint.child = LinkIndex{i + 1};
    joint.X_PF = random_pose(random, 0.5);
    joint.axis = Vector3d(1, 2, -1).normalized();
    joint.dynamics = {{0.1, 0, 0.5, 0.2, 0.05}};
    robot.joints.push_back(joint);
  }
  robot.X_WL.assign(5, SE3());
  return *Tree::make(robot);
}

/// Of the slots of a factor that sees so many derivatives of the state.
inline std::vector<Manifold> state_manifolds(const Tree& tree, int levels) {
  const StateSlots state(tree);
  std::vector<Manifold> all;
  state.add_manifolds(all);
  for (int level = 1; level < levels; ++level) {
    if (state.floating) all.push_back(Manifold::real(6));
    all.push_back(Manifold::real(state.joints));
  }
  return all;
}

}  // namespace kinegraph::screw
