#pragma once

#include "kinegraph/factor/screw/joint_slots.hpp"
#include "kinegraph/mechanics/screw/joint_derivatives.hpp"

namespace kinegraph::screw {

/// Collects the slots of a factor: what each stores and how it can move. add() returns the slot's number, −1 for one
/// that is not there (the ground's, that of a weld).
struct SlotList {
  std::vector<int> stored, tangent;

  int add(int numbers, int directions) {
    if (numbers == 0) return -1;
    stored.push_back(numbers);
    tangent.push_back(directions);
    return static_cast<int>(stored.size()) - 1;
  }
  int vector(int size) { return add(size, size); }
  int screw(bool there = true) { return vector(there ? 6 : 0); }
  int pose() { return add(SE3::kStored, SE3::kTangent); }
  int position(const ScrewJoint& joint) { return add(stored_numbers(joint.type), joint.freedoms); }
};

/// Where each slot's columns begin in a dense Jacobian of some rows.
class JacobianBlocks {
 public:
  JacobianBlocks(double* jacobian, int rows, const std::vector<int>& tangent)
      : jacobian_(jacobian), rows_(rows), tangent_(tangent) {}
  Eigen::Map<Eigen::MatrixXd> operator[](int slot) const {
    double* at = jacobian_;
    for (int s = 0; s < slot; ++s) at += rows_ * tangent_[s];
    return Eigen::Map<Eigen::MatrixXd>(at, rows_, tangent_[slot]);
  }

 private:
  double* jacobian_;
  int rows_;
  const std::vector<int>& tangent_;
};

inline Vector6d screw_at(Slots x, int slot) {
  return slot < 0 ? Vector6d::Zero() : Vector6d(Eigen::Map<const Vector6d>(x[slot]));
}

/// S w of a joint in its own slot.
inline Vector6d along(const Subspace6& S, int freedoms, const double* w) {
  Vector6d y = Vector6d::Zero();
  for (int k = 0; k < freedoms; ++k) y += S.col(k) * w[k];
  return y;
}

/// "wrench l2: moment x", "acceleration l1: linear z"
inline std::string screw_row(const std::string& what, int row, const char* first, const char* second) {
  static const char* const axes[] = {"x", "y", "z"};
  return what + ": " + (row < 3 ? first : second) + " " + axes[row % 3];
}

}  // namespace kinegraph::screw
