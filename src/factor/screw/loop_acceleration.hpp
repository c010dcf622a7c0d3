#pragma once

#include "kinegraph/factor/screw/slot_list.hpp"

namespace kinegraph::screw {

/// The two ends of a loop move against each other as the joint that closes it lets them.
///     e = X_b V̇_b − X_a(q) V̇_a − S q̈ − Ṡ q̇ + ad(S q̇) X_a V_a           (001, eq. 5, between two bodies)
/// Slots: V̇_b, V̇_a, V_a (those of moving bodies), then q, q̇, q̈ (unless the joint is a weld).
class LoopAccelerationFactor final : public Factor {
 public:
  explicit LoopAccelerationFactor(const Loop& loop) : LoopAccelerationFactor(loop, Layout(loop)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    static const double still[6] = {};
    const int n = joint_.freedoms;
    const auto numbers = [&](int slot) { return slot < 0 ? still : x[slot]; };
    Subspace6 S = Subspace6::Zero();
    const Transform<double> X_AM = X_AF_ * joint_transform(joint_, numbers(at_.q), &S);
    const Vector6d A_A = X_AM.twist_back(screw_at(x, at_.acceleration_a)),
                   V_A = X_AM.twist_back(screw_at(x, at_.twist_a));
    const Vector6d Sv = along(S, n, numbers(at_.v));
    const JointBias bias = joint_bias(joint_, numbers(at_.q), numbers(at_.v));
    column6(residual) = X_BM_.twist_back(screw_at(x, at_.acceleration_b)) - A_A - along(S, n, numbers(at_.a)) -
                        bias.value + cross_twist<double>(Sv, V_A);
    if (!jacobian) return;
    const JacobianBlocks J(jacobian, 6, at_.slots.tangent);
    const Matrix6d X_a = X_AM.inverse().Ad();
    if (at_.acceleration_b >= 0) J[at_.acceleration_b] = X_BM_.inverse().Ad();
    if (at_.acceleration_a >= 0) J[at_.acceleration_a] = -X_a;
    if (at_.twist_a >= 0) J[at_.twist_a] = ad(Sv) * X_a;
    if (n == 0) return;
    J[at_.a] = -S.leftCols(n);
    J[at_.v] = -(ad(V_A) * S + bias.by_v).leftCols(n);  // ad(S δ) V = −ad(V) S δ
    J[at_.q] = (-ad(A_A) * S - subspace_derivative(joint_, x[at_.q], x[at_.a]) - bias.by_q + ad(Sv) * ad(V_A) * S -
                ad(V_A) * subspace_derivative(joint_, x[at_.q], x[at_.v]))
                   .leftCols(n);
  }
  std::string row_name(int row) const override { return screw_row(name(), row, "angular", "linear"); }

 private:
  struct Layout {
    explicit Layout(const Loop& loop)
        : acceleration_b(slots.screw(loop.b >= 0)),
          acceleration_a(slots.screw(loop.a >= 0)),
          twist_a(slots.screw(loop.a >= 0)),
          q(slots.position(loop.via)),
          v(slots.vector(loop.via.freedoms)),
          a(slots.vector(loop.via.freedoms)) {}
    SlotList slots;
    int acceleration_b, acceleration_a, twist_a, q, v, a;
  };
  LoopAccelerationFactor(const Loop& loop, Layout at)
      : Factor("closure " + loop.name, 6, at.slots.stored, dense(6, at.slots.tangent)),
        at_(std::move(at)),
        joint_(in_own_slot(loop.via)),
        X_AF_(loop.X_AF),
        X_BM_(loop.X_BM) {}

  Layout at_;
  ScrewJoint joint_;
  Transform<double> X_AF_, X_BM_;
};

}  // namespace kinegraph::screw
