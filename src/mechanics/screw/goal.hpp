#pragma once

#include "kinegraph/mechanics/screw/transform.hpp"

namespace kinegraph::screw {

/// Where a frame of the robot shall be: its position, some of its coordinates only, its rotation, or both.
struct GoalPose {
  Transform<double> X_WG;
  bool axis[3] = {true, true, true};  ///< which of x, y, z are asked for
  bool rotation = false;

  int rows() const { return (rotation ? 3 : 0) + axis[0] + axis[1] + axis[2]; }
};

/// e = (log(R_WGᵀ R_WT), p_WT − p_WG), of which the rows that are asked for; unless null, the first rows() of
/// `jacobian` are its derivative by a displacement (ω, v) of T along its own axes:   ∂e = (J_r⁻¹(e_R) ω, R_WT v)
inline void goal_rows(const GoalPose& goal, const Transform<double>& X_WT, double* residual, Matrix6d* jacobian) {
  int row = 0;
  if (jacobian) jacobian->setZero();
  if (goal.rotation) {
    const Eigen::Vector3d e = SO3(Eigen::Quaterniond(Eigen::Matrix3d(goal.X_WG.R.transpose() * X_WT.R))).log();
    Eigen::Map<Eigen::Vector3d>(residual + 0) = e;
    if (jacobian) jacobian->topLeftCorner<3, 3>() = SO3::right_jacobian_inverse(e);
    row = 3;
  }
  for (int i = 0; i < 3; ++i) {
    if (!goal.axis[i]) continue;
    residual[row] = X_WT.p[i] - goal.X_WG.p[i];
    if (jacobian) jacobian->block<1, 3>(row, 3) = X_WT.R.row(i);
    ++row;
  }
}

}  // namespace kinegraph::screw
