#pragma once

#include "kinegraph/factor/screw/slot_list.hpp"

namespace kinegraph::screw {

/// A body's acceleration is that of its parent and of its joint.                             (001, eq. 5, with Ṡ)
///     e = V̇ᵢ − Xᵢ(q) V̇ₚ − S(q) q̈ − ad(Vᵢ) S(q) q̇ − Ṡ q̇
/// Slots: V̇ᵢ, V̇ₚ (unless the parent is the ground), Vᵢ, q, q̇, q̈.
class TwistAccelerationFactor final : public Factor {
 public:
  explicit TwistAccelerationFactor(const Body& body) : TwistAccelerationFactor(body, Layout(body)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    Subspace6 S;
    const Transform<double> X_PB = X_PF_ * joint_transform(joint_, x[at_.q], &S);
    const Vector6d V = screw_at(x, at_.twist), A_P = X_PB.twist_back(screw_at(x, at_.parent));
    const Vector6d Sv = along(S, joint_.freedoms, x[at_.v]);
    const JointBias bias = joint_bias(joint_, x[at_.q], x[at_.v]);
    column6(residual) =
        screw_at(x, at_.body) - A_P - along(S, joint_.freedoms, x[at_.a]) - cross_twist<double>(V, Sv) - bias.value;
    if (!jacobian) return;
    const JacobianBlocks J(jacobian, 6, at_.slots.tangent);
    J[at_.body].setIdentity();
    if (at_.parent >= 0) J[at_.parent] = -X_PB.inverse().Ad();
    J[at_.twist] = ad(Sv);  // −ad(δ) S q̇ = ad(S q̇) δ
    J[at_.a] = -S.leftCols(joint_.freedoms);
    J[at_.v] = -(ad(V) * S + bias.by_v).leftCols(joint_.freedoms);
    J[at_.q] = -(ad(A_P) * S + subspace_derivative(joint_, x[at_.q], x[at_.a]) +
                 ad(V) * subspace_derivative(joint_, x[at_.q], x[at_.v]) + bias.by_q)
                    .leftCols(joint_.freedoms);
  }
  std::string row_name(int row) const override { return screw_row(name(), row, "angular", "linear"); }

 private:
  struct Layout {
    explicit Layout(const Body& b)
        : body(slots.screw()),
          parent(slots.screw(b.parent >= 0)),
          twist(slots.screw()),
          q(slots.position(b.joint)),
          v(slots.vector(b.joint.freedoms)),
          a(slots.vector(b.joint.freedoms)) {}
    SlotList slots;
    int body, parent, twist, q, v, a;
  };
  TwistAccelerationFactor(const Body& body, Layout at)
      : Factor("acceleration " + body.name, 6, at.slots.stored, dense(6, at.slots.tangent)),
        at_(std::move(at)),
        joint_(in_own_slot(body.joint)),
        X_PF_(body.X_PF) {}

  Layout at_;
  ScrewJoint joint_;
  Transform<double> X_PF_;
};

}  // namespace kinegraph::screw
