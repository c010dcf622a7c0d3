#pragma once

#include <optional>

#include "kinegraph/factor/screw/slot_list.hpp"

namespace kinegraph::screw {

/// The wrenches on a body make it accelerate, its weight among them.                          (001, eq. 6)
///     e = Fᵢ − Σ X(q)ᵀ F(children) + Σ ± X(q)ᵀ F(loops) − Gᵢ V̇ᵢ + ad(Vᵢ)ᵀ Gᵢ Vᵢ + Gᵢ (0, Rᵀ g)
///
/// q moved by δ:   ∂(Xᵀ F)/∂q = Xᵀ (−ad(S δ)ᵀ F)
/// Slots: Fᵢ, V̇ᵢ, Vᵢ, X_WB, then (F, q) of each child, then F (and q, on the side of frame F) of each loop at the body.
class WrenchFactor final : public Factor {
 public:
  WrenchFactor(const Tree& tree, int body) : WrenchFactor(tree, body, Layout(tree, body)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const Vector6d F = screw_at(x, at_.wrench), A = screw_at(x, at_.acceleration), V = screw_at(x, at_.twist);
    const Matrix3d R = SE3::load(x[at_.pose]).rotation().matrix();
    const Vector3d g = R.transpose() * gravity_;
    const Vector6d momentum = G_ * V;
    Vector6d e = F - G_ * A - cross_wrench<double>(V, momentum) + G_.rightCols<3>() * g;
    const JacobianBlocks J(jacobian, 6, at_.slots.tangent);
    if (jacobian) {
      J[at_.wrench].setIdentity();
      J[at_.acceleration] = -G_;
      J[at_.twist] = -(cross_wrench_by_twist(momentum) + wrench_ad(V) * G_);
      J[at_.pose].setZero();
      J[at_.pose].leftCols<3>() = G_.rightCols<3>() * skew<double>(g);  // Rᵀ g moves by −δ × Rᵀ g
    }
    for (const Reaction& r : at_.reactions) {
      const Vector6d on_other = screw_at(x, r.wrench);
      Subspace6 S;
      const Transform<double> X =
          r.moves ? r.fixed * joint_transform(r.joint, r.q < 0 ? nullptr : x[r.q], &S) : r.fixed;
      e += r.sign * X.wrench(on_other);
      if (!jacobian) continue;
      const Matrix6d back = r.sign * X.inverse().Ad().transpose();
      J[r.wrench] = back;
      if (r.q >= 0) J[r.q] = back * (cross_wrench_by_twist(on_other) * S).leftCols(r.joint.freedoms);
    }
    column6(residual) = e;
  }
  std::string row_name(int row) const override { return screw_row(name(), row, "moment", "force"); }

 private:
  /// A wrench that a neighbour takes from the body, or gives it: at a frame that is `fixed` on the body, moved by the
  /// joint where the wrench is told on its far side.
  struct Reaction {
    int wrench = -1, q = -1;
    bool moves = false;
    double sign = -1;
    ScrewJoint joint;
    Transform<double> fixed;
  };
  struct Layout {
    Layout(const Tree& tree, int body)
        : wrench(slots.screw()), acceleration(slots.screw()), twist(slots.screw()), pose(slots.pose()) {
      for (const int child : tree.bodies()[body].children) {
        const Body& b = tree.bodies()[child];
        add(b.joint, b.X_PF, true, -1);
      }
      for (const Loop& loop : tree.loops()) {
        if (loop.a == body) add(loop.via, loop.X_AF, true, -1);
        if (loop.b == body) add(loop.via, loop.X_BM, false, 1);
      }
    }
    void add(const ScrewJoint& joint, const Transform<double>& fixed, bool moves, double sign) {
      Reaction r;
      r.wrench = slots.screw();
      if (moves) r.q = slots.position(joint);
      r.moves = moves;
      r.sign = sign;
      r.joint = in_own_slot(joint);
      r.fixed = fixed;
      reactions.push_back(r);
    }
    SlotList slots;
    int wrench, acceleration, twist, pose;
    std::vector<Reaction> reactions;
  };
  WrenchFactor(const Tree& tree, int body, Layout at)
      : Factor("wrench " + tree.bodies()[body].name, 6, at.slots.stored, dense(6, at.slots.tangent)),
        at_(std::move(at)),
        G_(tree.bodies()[body].inertia),
        gravity_(tree.gravity()) {}

  Layout at_;
  Matrix6d G_;
  Vector3d gravity_;
};

}  // namespace kinegraph::screw
