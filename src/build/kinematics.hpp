#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/graph/graph.hpp"
#include "kinegraph/mechanics/screw/goal.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::build {

/// The kinematics of a robot as a graph: poses of bodies and coordinates of joints are variables; joints and loops are
/// hard factors between them; goals and limits are costs.
class KinematicsGraph {
 public:
  /// Starts from q. Only what `bodies` hang on is built in, with all loops that they are part of; empty: everything.
  KinematicsGraph(std::shared_ptr<const screw::Tree> tree, const Eigen::VectorXd& q,
                  const std::vector<int>& bodies = {});

  /// A coordinate keeps its value.
  void hold(int coordinate);
  /// Coordinates stay near where they are: decides what nothing else does.
  void stay(double sigma);
  /// A frame T of a body at a goal; positions weigh as angles of one radian per `length`.
  void add_goal(const std::string& name, int body, const screw::Transform<double>& X_BT, const screw::GoalPose& goal,
                double length);
  /// Joints stay within their limits (factor/screw/limit.hpp); weight 1/σ².
  void add_limits(double sigma);
  /// The forces of limits as they are now become known: λ/w ← e. Returns the largest distance beyond a limit.
  double update_limits();

  bool contains(int coordinate) const { return coordinate_in_[coordinate]; }
  Eigen::VectorXd position() const;             ///< q, as solved; what is not part of the graph as it was
  void set_position(const Eigen::VectorXd& q);  ///< all variables start again from q; limits forget their forces
  std::vector<std::string> at_limits() const;   ///< joints that a limit pushes: "elbow.q"

  Graph graph;
  Values values;

 private:
  void choose(const std::vector<int>& bodies);

  std::shared_ptr<const screw::Tree> tree_;
  Eigen::VectorXd q_;
  std::vector<bool> body_in_, coordinate_in_, loop_in_;
  std::vector<int> limited_;  ///< coordinates with a limit factor
};

}  // namespace kinegraph::build
