#pragma once

#include <Eigen/Core>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/base/result.hpp"
#include "kinegraph/mechanics/screw/goal.hpp"
#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::task {

/// Where a frame shall be: a link's, moved by an offset along its axes.
struct FrameGoal {
  std::string frame;
  Eigen::Vector3d offset = Eigen::Vector3d::Zero();
  screw::GoalPose pose;
};

struct ReachOptions {
  int starts = 60;  ///< the first from where the robot is, the others at random
  unsigned long seed = 0;
  Progress progress;
};

/// How near a robot came.
struct Reached {
  bool solved = false;
  Eigen::VectorXd q;
  double distance = 0, angle = 0;      ///< m, rad: the largest over the goals
  std::string farthest;                ///< the frame that is farthest from its goal
  std::vector<std::string> at_limits;  ///< joints that a limit holds: "elbow.q"
  int iterations = 0, starts = 0;
};

/// Inverse kinematics: all goals at once, joints within their limits, loops closed. Joints that
/// no goal depends on stay where they are. Bad input: an unknown frame, or one
/// that does not move. Where nothing is near enough, the nearest is given, and solved is false.
Result<Reached> reach(std::shared_ptr<const screw::Tree> tree, const Eigen::VectorXd& q,
                      const std::vector<FrameGoal>& goals, const ReachOptions& options);

/// A random position within the limits; what has none turns any way and slides by a few typical lengths.
Eigen::VectorXd random_position(const screw::Tree& tree, const Eigen::VectorXd& q, std::mt19937_64& random);

}  // namespace kinegraph::task
