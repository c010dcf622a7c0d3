#pragma once

#include "kinegraph/factor/screw/slot_list.hpp"

namespace kinegraph::screw {

/// A body's twist is that of its parent and of its joint.     e = Vᵢ − Xᵢ(q) Vₚ − S(q) q̇      (001, eq. 4)
///
/// Xᵢ = Ad(X_PB⁻¹), and q moved by δ is X_PB exp(S δ):   ∂(Xᵢ Vₚ)/∂q = ad(Xᵢ Vₚ) S
/// Slots: Vᵢ, Vₚ (unless the parent is the ground), q, q̇.
class TwistFactor final : public Factor {
 public:
  explicit TwistFactor(const Body& body) : TwistFactor(body, Layout(body)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    Subspace6 S;
    const Transform<double> X_PB = X_PF_ * joint_transform(joint_, x[at_.q], &S);
    const Vector6d V_P = X_PB.twist_back(screw_at(x, at_.parent));
    column6(residual) = screw_at(x, at_.body) - V_P - along(S, joint_.freedoms, x[at_.v]);
    if (!jacobian) return;
    const JacobianBlocks J(jacobian, 6, at_.slots.tangent);
    J[at_.body].setIdentity();
    if (at_.parent >= 0) J[at_.parent] = -X_PB.inverse().Ad();
    J[at_.v] = -S.leftCols(joint_.freedoms);
    J[at_.q] = -(ad(V_P) * S + subspace_derivative(joint_, x[at_.q], x[at_.v])).leftCols(joint_.freedoms);
  }
  std::string row_name(int row) const override { return screw_row(name(), row, "angular", "linear"); }

 private:
  struct Layout {
    explicit Layout(const Body& b)
        : body(slots.screw()),
          parent(slots.screw(b.parent >= 0)),
          q(slots.position(b.joint)),
          v(slots.vector(b.joint.freedoms)) {}
    SlotList slots;
    int body, parent, q, v;
  };
  TwistFactor(const Body& body, Layout at)
      : Factor("twist " + body.name, 6, at.slots.stored, dense(6, at.slots.tangent)),
        at_(std::move(at)),
        joint_(in_own_slot(body.joint)),
        X_PF_(body.X_PF) {}

  Layout at_;
  ScrewJoint joint_;
  Transform<double> X_PF_;
};

}  // namespace kinegraph::screw
