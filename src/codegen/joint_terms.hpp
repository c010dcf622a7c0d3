#pragma once

#include "kinegraph/codegen/scalar.hpp"
#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::codegen {

/// A joint in symbols, its ratio, offset and direction included.
struct JointTerms {
  Matrix3s R = Matrix3s::Identity();  ///< of X_FM
  Vector3s p = Vector3s::Zero();
  Eigen::Matrix<Scalar, 6, Eigen::Dynamic> S;  ///< the twist of M against F, seen from M, is S v
  Vector6s twist = Vector6s::Zero();           ///< S v
  Vector6s bias = Vector6s::Zero();            ///< Ṡ v
};

/// q and v are the whole vectors of the robot.
JointTerms joint_terms(const screw::ScrewJoint& joint, const Scalar* q, const Scalar* v);

}  // namespace kinegraph::codegen
