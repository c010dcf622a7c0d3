#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::maximal {

/// Where the numbers of a body, a joint, a freedom, a spring stand, counted from their first.
struct BodyNumbers {
  static constexpr int mass = 0, com = 1, inertia = 4, count = 10;  ///< inertia about com: xx yy zz xy xz yz
};
struct JointNumbers {
  static constexpr int F = 0, M = 12, count = 24;  ///< frames on their bodies: rotation (column by column), origin
};
struct FreedomNumbers {
  static constexpr int damping = 0, friction = 1, stiffness = 2, rest = 3, armature = 4, quadratic = 5, stribeck = 6,
                       stribeck_speed = 7, load_friction = 8, gain = 9, count = 10;
};
struct SpringNumbers {
  static constexpr int a = 0, b = 3, stiffness = 6, rest = 7, damping = 8, count = 9;
};
struct LoadNumbers {
  static constexpr int at = 0, count = 3;
};

/// A rigid body: six freedoms.
struct Body {
  std::string name;
  int numbers = 0;
  bool weightless = false;  ///< the file gives no mass: a millionth of the others' stands in for it
};

/// A joint ties frame F on body a to frame M on body b (−1: the ground) by some of
///
///     eᵢ · (p_M − p_F) = 0    of directions e of F        z_M · x_F = z_M · y_F = 0    axes stay parallel, …
///
/// The axis is z of both frames.
struct Joint {
  std::string name;
  int a = -1, b = -1;
  JointType type = JointType::fixed;
  int numbers = 0;
  double pitch = 0;
  Eigen::Vector3d axis2 = Eigen::Vector3d::UnitX();
  int coordinate = -1;            ///< of Tree::coordinates(); −1: a weld
  int freedom = 0, freedoms = 0;  ///< of Mechanism::freedoms(), as those of Tree; 0 of a floating joint
  double ratio = 1, offset = 0;   ///< the joint's own angle is ratio · q + offset
  int row = 0, rows = 0;          ///< constraints
};

/// One freedom of a joint: what friction, motors and springs act along.
struct Freedom {
  int joint = 0, index = 0;
  int numbers = 0;
  int position = -1, velocity = 0;  ///< its numbers in q (−1: none of its own) and v of Tree
  int drive = -1, torque = -1;      ///< of Robot::drives and Robot::torques
  bool angular = false;
};

struct Spring {
  std::string name;
  int a = -1, b = -1;
  int numbers = 0;
};
struct Load {
  int body = -1;
  int numbers = 0;
};

/// A machine in maximal coordinates: what is tied to what. Every body has
///
///     q: rotation of its frame (unit quaternion w x y z), position of its centre of mass in the world     7 numbers
///     v: angular velocity in the body's axes, velocity of the centre of mass in the world's               6 numbers
///
/// so that M = diag(J, m 1) is constant. Its masses, lengths, friction, … are a vector of numbers of their own, which
/// parameters of the model move. Immutable.
class Mechanism {
 public:
  /// Refused, by name: joints that mimic another.
  static Result<std::shared_ptr<const Mechanism>> make(const Robot& robot);

  const screw::Tree& tree() const { return *tree_; }
  std::shared_ptr<const screw::Tree> shared_tree() const { return tree_; }
  const std::vector<Body>& bodies() const { return bodies_; }
  const std::vector<Joint>& joints() const { return joints_; }
  const std::vector<Freedom>& freedoms() const {
    return freedoms_;
  }  ///< as those of Tree, but of floating joints: none
  const std::vector<Spring>& springs() const { return springs_; }
  const std::vector<Load>& loads() const { return loads_; }
  int rows() const { return rows_; }                                   ///< of all joints
  int stored() const { return 7 * static_cast<int>(bodies_.size()); }  ///< numbers of q
  int tangent() const { return 6 * static_cast<int>(bodies_.size()); }
  static constexpr int kGravity = 0;        ///< place of gravity among the numbers
  static constexpr double kStandIn = 1e-6;  ///< masses and inertias that a file does not give, over the machine's

  /// The numbers of this robot, or of another that differs from it in numbers only.
  const Eigen::VectorXd& numbers() const { return numbers_; }
  Result<Eigen::VectorXd> numbers(const Robot& robot) const;

 private:
  Mechanism() = default;
  void add_bodies();
  void add_joint(const std::string& name, const screw::ScrewJoint& joint, int parent, int child);
  void add_forces(const Robot& robot);
  Eigen::VectorXd flatten(const screw::Tree& tree) const;

  std::shared_ptr<const screw::Tree> tree_;
  std::vector<Body> bodies_;
  std::vector<Joint> joints_;
  std::vector<Freedom> freedoms_;
  std::vector<Spring> springs_;
  std::vector<Load> loads_;
  int rows_ = 0, count_ = 3;
  Eigen::VectorXd numbers_;
};

/// q ⊞ δ per body: R exp(δφ), p + δp. out may be q.
void retract(int bodies, const double* q, const double* delta, double* out);
/// δ with q ⊞ δ = other.
void local(int bodies, const double* q, const double* other, double* delta);

}  // namespace kinegraph::maximal
