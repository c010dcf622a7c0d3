#pragma once

#include "kinegraph/factor/screw/joint_slots.hpp"

namespace kinegraph::screw {

/// A joint between two bodies of the tree closes a loop.     e = log(X_FM(q)⁻¹ X_AF⁻¹ X_WA⁻¹ X_WB X_BM)
///
/// ∂e/∂X_WA = −J_l⁻¹(e) Ad(X_AM)⁻¹ with X_AM = X_AF X_FM(q),   ∂e/∂X_WB = J_r⁻¹(e) Ad(X_BM)⁻¹,   ∂e/∂q = −J_l⁻¹(e) S
/// Slots: X_WA, X_WB (those that are not the ground), q.
class LoopClosure final : public Factor {
 public:
  explicit LoopClosure(const Loop& loop) : LoopClosure(loop, JointSlots(loop.a >= 0, loop.b >= 0, loop.via)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    Subspace6 S;
    const Transform<double> X_AM = X_AF_ * joint_transform(joint_, slots_.q(x), &S);
    const Transform<double> X_WA = slots_.pose(x, slots_.first), X_WB = slots_.pose(x, slots_.second);
    const Logarithm log((X_WA * X_AM).inverse() * X_WB * X_BM_);
    column6(residual) = log.value;
    if (!jacobian) return;
    const Matrix6d left = log.left();
    if (slots_.first >= 0) {
      block6(jacobian).noalias() = -left * X_AM.inverse().Ad();
      jacobian += 36;
    }
    if (slots_.second >= 0) {
      block6(jacobian).noalias() = log.right() * X_BM_.inverse().Ad();
      jacobian += 36;
    }
    for (int k = 0; k < joint_.freedoms; ++k) column6(jacobian + 6 * k).noalias() = -left * S.col(k);
  }
  bool may_lose_rank() const override { return true; }
  std::string row_name(int row) const override { return pose_row(name(), row); }

 private:
  LoopClosure(const Loop& loop, JointSlots slots)
      : Factor("loop " + loop.name, 6, slots.stored, dense(6, slots.tangent)),
        slots_(std::move(slots)),
        joint_(in_own_slot(loop.via)),
        X_AF_(loop.X_AF),
        X_BM_(loop.X_BM) {}

  JointSlots slots_;
  ScrewJoint joint_;
  Transform<double> X_AF_, X_BM_;
};

}  // namespace kinegraph::screw
