#pragma once

#include "kinegraph/mechanics/screw/joint/shape.hpp"

namespace kinegraph::screw {

/// Turns about z and advances h metres per radian.     X = (Rz(q), h q e_z),   S = (e_z, h e_z)
struct Screw : PlainCoordinates<1> {
  static constexpr bool kConstant = true;
  template <class T>
  static Transform<T> transform(const JointShape& shape, const T* q) {
    return {rotation_z<T>(q[0]), Vector3T<T>(T(0.0), T(0.0), q[0] * shape.pitch)};
  }
  template <class T>
  static Subspace<T, 1> subspace(const JointShape& shape, const T*) {
    Subspace<T, 1> s = Subspace<T, 1>::Unit(2);
    s[5] = T(shape.pitch);
    return s;
  }
  template <class T>
  static Vector6T<T> bias(const JointShape&, const T*, const T*) {
    return Vector6T<T>::Zero();
  }
};

}  // namespace kinegraph::screw
