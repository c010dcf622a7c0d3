#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/graph/manifold.hpp"
#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::screw {

using Subspace6 = Eigen::Matrix<double, 6, 6>;

inline SE3 to_se3(const Transform<double>& X) { return {SO3(Eigen::Quaterniond(X.R)), X.p}; }
inline Transform<double> load_pose(const double* stored) { return Transform<double>(SE3::load(stored)); }

inline Eigen::Map<Vector6d> column6(double* x) { return Eigen::Map<Vector6d>(x); }
inline Eigen::Map<Matrix6d> block6(double* x) { return Eigen::Map<Matrix6d>(x); }

/// log X, rotation first; its right Jacobian's inverse, and its left Jacobian's inverse (which is J_r⁻¹ Ad(X⁻¹)).
struct Logarithm {
  explicit Logarithm(const Transform<double>& X) : value(to_se3(X).log()) {}
  Matrix6d right() const { return SE3::right_jacobian_inverse(value); }
  Matrix6d left() const { return SE3::left_jacobian_inverse(value); }
  Vector6d value;
};

/// Where the variables of a joint's coordinate live.
inline Manifold manifold_of(JointType type) {
  if (type == JointType::ball) return Manifold::so3();
  if (type == JointType::floating) return Manifold::se3();
  return Manifold::real(stored_numbers(type));
}

/// Slots of a factor on a joint: the poses of the bodies that are not the ground, then the joint's coordinate, if any.
struct JointSlots {
  JointSlots(bool first_moves, bool second_moves, const ScrewJoint& joint) {
    if (first_moves) first = add(SE3::kStored, SE3::kTangent);
    if (second_moves) second = add(SE3::kStored, SE3::kTangent);
    if (joint.freedoms > 0) coordinate = add(stored_numbers(joint.type), joint.freedoms);
  }
  Transform<double> pose(Slots x, int slot) const { return slot < 0 ? Transform<double>() : load_pose(x[slot]); }
  const double* q(Slots x) const { return coordinate < 0 ? nullptr : x[coordinate]; }

  int first = -1, second = -1, coordinate = -1;
  std::vector<int> stored, tangent;

 private:
  int add(int numbers, int directions) {
    stored.push_back(numbers);
    tangent.push_back(directions);
    return static_cast<int>(stored.size()) - 1;
  }
};

/// A joint that finds its coordinate at the beginning of its own slot.
inline ScrewJoint in_own_slot(ScrewJoint joint) {
  joint.q = joint.v = 0;
  return joint;
}

/// Names of the six rows of a pose difference: "pose hand: turn y".
inline std::string pose_row(const std::string& what, int row) {
  static const char* const names[] = {"turn x", "turn y", "turn z", "x", "y", "z"};
  return what + ": " + names[row];
}

}  // namespace kinegraph::screw
