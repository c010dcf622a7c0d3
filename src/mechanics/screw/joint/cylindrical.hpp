#pragma once

#include "kinegraph/mechanics/screw/joint/shape.hpp"

namespace kinegraph::screw {

/// Turns about z and, independently, slides along it.     X = (Rz(q₁), q₂ e_z),   S = [(e_z, 0) (0, e_z)]
struct Cylindrical : PlainCoordinates<2> {
  static constexpr bool kConstant = true;
  template <class T>
  static Transform<T> transform(const JointShape&, const T* q) {
    return {rotation_z<T>(q[0]), Vector3T<T>(T(0.0), T(0.0), q[1])};
  }
  template <class T>
  static Subspace<T, 2> subspace(const JointShape&, const T*) {
    Subspace<T, 2> s;
    s << Vector6T<T>::Unit(2), Vector6T<T>::Unit(5);
    return s;
  }
  template <class T>
  static Vector6T<T> bias(const JointShape&, const T*, const T*) {
    return Vector6T<T>::Zero();
  }
};

}  // namespace kinegraph::screw
