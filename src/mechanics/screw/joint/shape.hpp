#pragma once

#include <Eigen/Core>

#include "kinegraph/mechanics/screw/transform.hpp"

namespace kinegraph::screw {

/// What a joint's equations need beside q. Joints are turned so that their (first) axis is z.
struct JointShape {
  double pitch = 0;                                  ///< screw: metres per radian
  Eigen::Vector3d axis2 = Eigen::Vector3d::UnitX();  ///< universal: the second axis, in M
};

/// One type of joint is a struct with
///     kStored, kFreedoms          numbers in q and v
///     kConstant                   S does not depend on q (then Ṡ = 0)
///     transform(shape, q)         X_FM: the joint's frame on the child in that on the parent
///     subspace(shape, q)          S, 6 × kFreedoms: the twist of M against F, seen from M, is S v
///     bias(shape, q, v)           Ṡ v
///     retract(q, δ, out)          q moved by δ (a displacement along v); out may be q
/// templated on the scalar. The list of all types is in list.hpp.
template <class T, int n>
using Subspace = Eigen::Matrix<T, 6, n>;

template <int n>
struct PlainCoordinates {
  static constexpr int kStored = n, kFreedoms = n;
  template <class T>
  static void retract(const T* q, const T* delta, T* out) {
    for (int i = 0; i < n; ++i) out[i] = q[i] + delta[i];
  }
};

template <class T>
Matrix3T<T> rotation_z(const T& angle) {
  using std::cos;
  using std::sin;
  const T c = cos(angle), s = sin(angle), o(0.0), l(1.0);
  Matrix3T<T> R;
  R << c, -s, o, s, c, o, o, o, l;
  return R;
}

}  // namespace kinegraph::screw
