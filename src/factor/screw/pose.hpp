#pragma once

#include "kinegraph/factor/screw/joint_slots.hpp"

namespace kinegraph::screw {

/// A body is where its parent and its joint put it.     e = log(X_WB⁻¹ X_WP X_PF X_FM(q))
///
/// With T the product:   ∂e/∂X_WB = −J_l⁻¹(e),   ∂e/∂X_WP = J_r⁻¹(e) Ad(X_PM)⁻¹,   ∂e/∂q = J_r⁻¹(e) S
/// Slots: X_WB, X_WP (unless the parent is the ground), q.
class JointPose final : public Factor {
 public:
  explicit JointPose(const Body& body) : JointPose(body, JointSlots(true, body.parent >= 0, body.joint)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    Subspace6 S;
    const Transform<double> X_PM = X_PF_ * joint_transform(joint_, slots_.q(x), &S);
    const Logarithm log(slots_.pose(x, slots_.first).inverse() * slots_.pose(x, slots_.second) * X_PM);
    column6(residual) = log.value;
    if (!jacobian) return;
    const Matrix6d right = log.right();
    block6(jacobian) = -log.left();
    jacobian += 36;
    if (slots_.second >= 0) {
      block6(jacobian).noalias() = right * X_PM.inverse().Ad();
      jacobian += 36;
    }
    for (int k = 0; k < joint_.freedoms; ++k) column6(jacobian + 6 * k).noalias() = right * S.col(k);
  }
  std::string row_name(int row) const override { return pose_row(name(), row); }

 private:
  JointPose(const Body& body, JointSlots slots)
      : Factor("pose " + body.name, 6, slots.stored, dense(6, slots.tangent)),
        slots_(std::move(slots)),
        joint_(in_own_slot(body.joint)),
        X_PF_(body.X_PF) {}

  JointSlots slots_;
  ScrewJoint joint_;
  Transform<double> X_PF_;
};

}  // namespace kinegraph::screw
