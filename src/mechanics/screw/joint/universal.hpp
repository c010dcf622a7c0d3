#pragma once

#include "kinegraph/mechanics/screw/joint/shape.hpp"

namespace kinegraph::screw {

/// Turns about z of F, then about an axis a of M.     X = Rz(q₁) exp(a^ q₂),   S = [(w, 0) (a, 0)],   w = exp(−a^ q₂)
/// e_z
struct Universal : PlainCoordinates<2> {
  static constexpr bool kConstant = false;
  template <class T>
  static Transform<T> transform(const JointShape& shape, const T* q) {
    return {rotation_z<T>(q[0]) * second(shape, q), Vector3T<T>::Zero()};
  }
  template <class T>
  static Subspace<T, 2> subspace(const JointShape& shape, const T* q) {
    Subspace<T, 2> s = Subspace<T, 2>::Zero();
    s.template topLeftCorner<3, 1>() = first_axis(shape, q);
    s.template topRightCorner<3, 1>() = shape.axis2.template cast<T>();
    return s;
  }
  /// ẇ q̇₁ = −q̇₁ q̇₂ a × w
  template <class T>
  static Vector6T<T> bias(const JointShape& shape, const T* q, const T* v) {
    const Vector3T<T> a = shape.axis2.template cast<T>();
    Vector6T<T> c = Vector6T<T>::Zero();
    c.template head<3>() = -(v[0] * v[1]) * a.cross(first_axis(shape, q));
    return c;
  }

 private:
  template <class T>
  static Matrix3T<T> second(const JointShape& shape, const T* q) {
    return SO3T<T>::exp(shape.axis2.template cast<T>() * q[1]).matrix();
  }
  template <class T>
  static Vector3T<T> first_axis(const JointShape& shape, const T* q) {
    return second(shape, q).row(2).transpose();
  }
};

}  // namespace kinegraph::screw
