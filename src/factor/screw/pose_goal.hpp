#pragma once

#include "kinegraph/factor/screw/joint_slots.hpp"
#include "kinegraph/mechanics/screw/goal.hpp"

namespace kinegraph::screw {

/// A frame T of a body is at its goal.     e = (log(R_WGᵀ R_WB R_BT), X_WB p_BT − p_WG)      Slot: X_WB.
class PoseGoal final : public Factor {
 public:
  PoseGoal(const std::string& frame, const GoalPose& goal, const Transform<double>& X_BT)
      : Factor("goal " + frame, goal.rows(), {SE3::kStored}, dense(goal.rows(), {SE3::kTangent})),
        goal_(goal),
        X_BT_(X_BT),
        Ad_TB_(X_BT.inverse().Ad()) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    Matrix6d by_T;
    goal_rows(goal_, load_pose(x[0]) * X_BT_, residual, jacobian ? &by_T : nullptr);
    if (!jacobian) return;
    by_T = by_T * Ad_TB_;
    for (int column = 0; column < 6; ++column)
      for (int row = 0; row < rows(); ++row) *jacobian++ = by_T(row, column);
  }

 private:
  GoalPose goal_;
  Transform<double> X_BT_;
  Matrix6d Ad_TB_;
};

}  // namespace kinegraph::screw
