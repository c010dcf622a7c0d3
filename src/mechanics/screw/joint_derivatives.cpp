#include "kinegraph/mechanics/screw/joint_derivatives.hpp"

#include <ceres/jet.h>

#include "kinegraph/mechanics/screw/joint/list.hpp"

namespace kinegraph::screw {
namespace {

/// A function of q (n plain coordinates) by dual numbers: value and columns of derivatives.
template <int n, class F>
void differentiate(const double* at, F&& function, SubspaceDerivative& derivative) {
  using Dual = ceres::Jet<double, n>;
  Dual x[n];
  for (int k = 0; k < n; ++k) x[k] = Dual(at[k], k);
  const Vector6T<Dual> value = function(x);
  for (int r = 0; r < 6; ++r) {
    for (int k = 0; k < n; ++k) derivative(r, k) = value[r].v[k];
  }
}

/// −Ad(X_FM) (ad(S δ) y + D δ): how a vector y(q) of M moves when it is seen from F and turned round.
void turn_round(const ScrewJoint& joint, const double* q, const Vector6d& y, SubspaceDerivative& D) {
  ScrewJoint straight = joint;
  straight.reversed = false;
  straight.q = straight.v = 0;
  SubspaceDerivative S;
  const Transform<double> X = joint_transform(straight, q, &S);
  for (int k = 0; k < joint.freedoms; ++k) {
    D.col(k) = -X.twist((cross_twist<double>(S.col(k), y) + D.col(k)).eval());
  }
}

}  // namespace

SubspaceDerivative subspace_derivative(const ScrewJoint& joint, const double* q, const double* w) {
  SubspaceDerivative D = SubspaceDerivative::Zero();
  Vector6d Sw = Vector6d::Zero();
  visit_joint(joint.type, [&](auto kind) {
    using Kind = decltype(kind);
    constexpr int n = Kind::kFreedoms;
    if constexpr (n > 1) {
      Sw = Kind::template subspace<double>(joint.shape, q) * Eigen::Map<const Eigen::Matrix<double, n, 1>>(w);
      if constexpr (!Kind::kConstant) {
        differentiate<n>(
            q,
            [&](const auto* x) {
              using Dual = std::decay_t<decltype(*x)>;
              return Vector6T<Dual>(Kind::template subspace<Dual>(joint.shape, x) *
                                    Eigen::Map<const Eigen::Matrix<double, n, 1>>(w).template cast<Dual>());
            },
            D);
      }
    }
  });
  if (joint.reversed) turn_round(joint, q, Sw, D);
  return D;
}

JointBias joint_bias(const ScrewJoint& joint, const double* q, const double* v) {
  JointBias bias;
  visit_joint(joint.type, [&](auto kind) {
    using Kind = decltype(kind);
    constexpr int n = Kind::kFreedoms;
    if constexpr (!Kind::kConstant) {
      bias.value = Kind::template bias<double>(joint.shape, q, v);
      const auto constant = [](const double* from, auto* to) {
        for (int k = 0; k < n; ++k) to[k] = std::decay_t<decltype(*to)>(from[k]);
      };
      differentiate<n>(
          q,
          [&](const auto* x) {
            using Dual = std::decay_t<decltype(*x)>;
            Dual rate[n];
            constant(v, rate);
            return Kind::template bias<Dual>(joint.shape, x, rate);
          },
          bias.by_q);
      differentiate<n>(
          v,
          [&](const auto* x) {
            using Dual = std::decay_t<decltype(*x)>;
            Dual position[n];
            constant(q, position);
            return Kind::template bias<Dual>(joint.shape, position, x);
          },
          bias.by_v);
    }
  });
  if (joint.reversed) {
    turn_round(joint, q, bias.value, bias.by_q);
    ScrewJoint straight = joint;
    straight.reversed = false;
    straight.q = straight.v = 0;
    const Transform<double> X = joint_transform(straight, q);
    for (int k = 0; k < joint.freedoms; ++k) bias.by_v.col(k) = -X.twist(bias.by_v.col(k).eval());
    bias.value = -X.twist(bias.value);
  }
  return bias;
}

}  // namespace kinegraph::screw
