#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/joint/shape.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph::screw {

/// A set of numbers of q, v and τ that belong together: those of one joint. Joints that mimic another have none of
/// their own.
struct Coordinate {
  std::string name;  ///< the joint's, or "base"
  JointType type = JointType::fixed;
  int joint = -1;    ///< of Robot::joints; −1: the base that was added
  int q = 0, v = 0;  ///< first number in q, in v
  int stored = 0, freedoms = 0;
  int loop = -1;                        ///< the loop that this joint closes; −1: a joint of the tree
  int loop_set = -1;                    ///< loops that share joints are one set; −1: not in a loop
  bool in_loop = false;                 ///< its motion is tied to that of others by a loop
  bool passive = false;                 ///< has no motor
  std::vector<JointLimits> limits;      ///< per freedom
  std::vector<JointDynamics> dynamics;  ///< per freedom
};

/// A joint between two frames, turned so that its axis is z. Its own position is ratio · q + offset (one freedom).
struct ScrewJoint {
  JointType type = JointType::fixed;
  JointShape shape;
  bool reversed = false;  ///< the file's child is nearer to the ground: X_FM⁻¹ is meant (joints of several freedoms)
  int coordinate = -1;    ///< of Tree::coordinates(); −1: none (a weld)
  int q = 0, v = 0, freedoms = 0;
  double ratio = 1, offset = 0;
};

/// One or more links that do not move against each other. Its frame is the joint's frame M on it.
struct Body {
  std::string name;  ///< of its first link
  int parent = -1;   ///< a body with a smaller number; −1: the ground
  ScrewJoint joint;
  Transform<double> X_PF;  ///< the joint's frame F on the parent
  double mass = 0;
  Eigen::Vector3d com = Eigen::Vector3d::Zero();  ///< in the body's frame; zero if massless
  Matrix6d inertia = Matrix6d::Zero();            ///< G about the frame's origin: [I  m c^; −m c^  m 1]
  std::vector<int> children;
};

/// A joint that is not in the tree: it ties frame F of body a to frame M of body b (−1: the ground).
struct Loop {
  std::string name;
  int joint = -1;  ///< of Robot::joints
  int a = -1, b = -1;
  Transform<double> X_AF, X_BM;
  ScrewJoint via;
};

/// Where a link is: on which body (−1: the ground), and where there.
struct LinkPlace {
  int body = -1;
  Transform<double> X_BL;
};

/// A robot as a spanning tree of bodies and the joints that close loops. Bodies are numbered from the ground outward:
/// a parent before its children, chains together. Immutable; no state.
class Tree {
 public:
  /// Fails (no_answer) only where there is nothing that could move or be solved for.
  static Result<std::shared_ptr<const Tree>> make(const Robot& robot);

  const std::vector<Body>& bodies() const { return bodies_; }
  const std::vector<Loop>& loops() const { return loops_; }
  const std::vector<Coordinate>& coordinates() const { return coordinates_; }  ///< of the tree first, then of loops
  const std::vector<LinkPlace>& links() const { return links_; }               ///< as Robot::links
  const Robot& robot() const { return robot_; }
  const Eigen::Vector3d& gravity() const { return robot_.gravity; }
  double mass() const { return mass_; }  ///< of all that moves

  int stored() const { return stored_; }                ///< numbers of q
  int freedoms() const { return freedoms_; }            ///< numbers of v, a and τ
  int tree_freedoms() const { return tree_freedoms_; }  ///< those of the joints of the tree: they come first

  const std::vector<std::string>& position_names() const { return position_names_; }
  const std::vector<std::string>& velocity_names() const { return velocity_names_; }
  const std::vector<std::string>& acceleration_names() const { return acceleration_names_; }
  const std::vector<std::string>& torque_names() const { return torque_names_; }
  int find_coordinate(const std::string& name) const;  ///< −1 if there is none

  /// Where the motion starts as the file says: initial values, else zero, quaternions of no rotation; a base as drawn.
  Eigen::VectorXd start_position() const { return start_q_; }
  Eigen::VectorXd start_velocity() const { return start_v_; }

  /// q moved by δ along the freedoms: x ← x ⊕ δ. out may be q.
  void retract(const double* q, const double* delta, double* out) const;
  /// δ with q ⊕ δ = other.
  void local(const double* q, const double* other, double* delta) const;

 private:
  friend class TreeMaker;
  Tree() = default;
  Robot robot_;
  std::vector<Body> bodies_;
  std::vector<Loop> loops_;
  std::vector<Coordinate> coordinates_;
  std::vector<LinkPlace> links_;
  double mass_ = 0;
  int stored_ = 0, freedoms_ = 0, tree_freedoms_ = 0;
  std::vector<std::string> position_names_, velocity_names_, acceleration_names_, torque_names_;
  Eigen::VectorXd start_q_, start_v_;
};

}  // namespace kinegraph::screw
