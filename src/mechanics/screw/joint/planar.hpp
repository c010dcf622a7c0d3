#pragma once

#include "kinegraph/mechanics/screw/joint/shape.hpp"

namespace kinegraph::screw {

/// Slides in the x-y plane of F and turns about z.     X = (Rz(q₃), (q₁, q₂, 0)),
/// S = [(0, Rz(q₃)ᵀ e_x) (0, Rz(q₃)ᵀ e_y) (e_z, 0)]: rates are those of the coordinates.
struct Planar : PlainCoordinates<3> {
  static constexpr bool kConstant = false;
  template <class T>
  static Transform<T> transform(const JointShape&, const T* q) {
    return {rotation_z<T>(q[2]), Vector3T<T>(q[0], q[1], T(0.0))};
  }
  template <class T>
  static Subspace<T, 3> subspace(const JointShape&, const T* q) {
    const Matrix3T<T> R = rotation_z<T>(q[2]);
    Subspace<T, 3> s = Subspace<T, 3>::Zero();
    s.template block<3, 2>(3, 0) = R.transpose().template leftCols<2>();
    s(2, 2) = T(1.0);
    return s;
  }
  /// d(Rᵀ)/dt (v₁, v₂, 0) = −v₃ e_z × Rᵀ (v₁, v₂, 0)
  template <class T>
  static Vector6T<T> bias(const JointShape&, const T* q, const T* v) {
    const Vector3T<T> u = rotation_z<T>(q[2]).transpose() * Vector3T<T>(v[0], v[1], T(0.0));
    Vector6T<T> c = Vector6T<T>::Zero();
    c[3] = v[2] * u[1];
    c[4] = -v[2] * u[0];
    return c;
  }
};

}  // namespace kinegraph::screw
