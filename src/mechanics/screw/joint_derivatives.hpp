#pragma once

#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::screw {

using SubspaceDerivative = Eigen::Matrix<double, 6, 6>;  ///< the first `freedoms` columns are used

/// ∂(S(q) w)/∂q along the freedoms, for fixed w. q and w are those of the joint's coordinate.
SubspaceDerivative subspace_derivative(const ScrewJoint& joint, const double* q, const double* w);

/// Ṡ v and its derivatives by q and v.
struct JointBias {
  Vector6d value = Vector6d::Zero();
  SubspaceDerivative by_q = SubspaceDerivative::Zero(), by_v = SubspaceDerivative::Zero();
};
JointBias joint_bias(const ScrewJoint& joint, const double* q, const double* v);

/// ad(x) as a matrix, and y ↦ −ad(x)ᵀ y as one.
inline Matrix6d ad(const Vector6d& x) { return SE3::ad(x); }
inline Matrix6d wrench_ad(const Vector6d& x) { return -SE3::ad(x).transpose(); }
/// x ↦ −ad(x)ᵀ y:   [−m^ −f^; −f^ 0]
inline Matrix6d cross_wrench_by_twist(const Vector6d& y) {
  Matrix6d m = Matrix6d::Zero();
  m.topLeftCorner<3, 3>() = -skew<double>(y.head<3>().eval());
  m.topRightCorner<3, 3>() = m.bottomLeftCorner<3, 3>() = -skew<double>(y.tail<3>().eval());
  return m;
}

}  // namespace kinegraph::screw
