#pragma once

#include "kinegraph/factor/screw/slot_list.hpp"

namespace kinegraph::screw {

/// The motor's torque is the wrench along the joint, less what the joint itself does.         (001, eq. 7)
///     e = Σ S(q)ᵀ F + a q̈ − τ − d(q, q̇)          a: armature; d: damping, friction, spring
/// The sum is over the joints of a coordinate: one, and those that mimic it.
/// Slots: τ, q, q̇, q̈, then F of each joint.
class TorqueFactor final : public Factor {
 public:
  TorqueFactor(const Tree& tree, int coordinate) : TorqueFactor(tree, coordinate, Layout(tree, coordinate)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const int n = coordinate_.freedoms;
    const bool plain = coordinate_.stored == n;
    const double *tau = x[0], *q = x[1], *v = x[2], *a = x[3];
    const JacobianBlocks J(jacobian, n, at_.slots.tangent);
    for (int k = 0; k < n; ++k) {
      const JointDynamics& d = coordinate_.dynamics[k];
      residual[k] = d.armature * a[k] - tau[k] - joint_force(d, plain ? q[k] : 0, v[k]);
    }
    if (jacobian) {
      std::fill(jacobian, jacobian + pattern().size(), 0.0);
      for (int k = 0; k < n; ++k) {
        const JointDynamics& d = coordinate_.dynamics[k];
        J[0](k, k) = -1;
        J[1](k, k) = plain ? d.stiffness : 0;
        J[2](k, k) = d.damping + friction_rate(d, v[k]);
        J[3](k, k) = d.armature;
      }
    }
    for (std::size_t j = 0; j < at_.joints.size(); ++j)
      add_joint(at_.joints[j], 4 + static_cast<int>(j), x, residual, jacobian);
  }

 private:
  struct Layout {
    Layout(const Tree& tree, int coordinate) {
      const Coordinate& c = tree.coordinates()[coordinate];
      slots.vector(c.freedoms);
      slots.add(c.stored, c.freedoms);
      slots.vector(c.freedoms);
      slots.vector(c.freedoms);
      for (const Body& body : tree.bodies()) add(body.joint, coordinate);
      for (const Loop& loop : tree.loops()) add(loop.via, coordinate);
    }
    void add(const ScrewJoint& joint, int coordinate) {
      if (joint.coordinate != coordinate) return;
      slots.screw();
      joints.push_back(in_own_slot(joint));
    }
    SlotList slots;
    std::vector<ScrewJoint> joints;
  };
  TorqueFactor(const Tree& tree, int coordinate, Layout at)
      : Factor("torque " + tree.coordinates()[coordinate].name, tree.coordinates()[coordinate].freedoms,
               at.slots.stored, dense(tree.coordinates()[coordinate].freedoms, at.slots.tangent)),
        at_(std::move(at)),
        coordinate_(tree.coordinates()[coordinate]) {}

  void add_joint(const ScrewJoint& joint, int slot, Slots x, double* residual, double* jacobian) const {
    const int n = joint.freedoms;
    Subspace6 S;
    joint_transform(joint, x[1], &S);
    const Vector6d F = screw_at(x, slot);
    for (int k = 0; k < n; ++k) residual[k] += S.col(k).dot(F);
    if (!jacobian) return;
    const JacobianBlocks J(jacobian, n, at_.slots.tangent);
    J[slot] = S.leftCols(n).transpose();
    for (int k = 0; k < n; ++k) {
      double unit[6] = {};
      unit[k] = 1;
      J[1].row(k) += F.transpose() * subspace_derivative(joint, x[1], unit).leftCols(n);
    }
  }

  Layout at_;
  Coordinate coordinate_;
};

}  // namespace kinegraph::screw
