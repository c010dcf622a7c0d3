#pragma once

#include "kinegraph/mechanics/screw/joint/shape.hpp"

namespace kinegraph::screw {

/// Turns about z.     X = Rz(q),   S = (e_z, 0)
struct Revolute : PlainCoordinates<1> {
  static constexpr bool kConstant = true;
  template <class T>
  static Transform<T> transform(const JointShape&, const T* q) {
    return {rotation_z<T>(q[0]), Vector3T<T>::Zero()};
  }
  template <class T>
  static Subspace<T, 1> subspace(const JointShape&, const T*) {
    return Subspace<T, 1>::Unit(2);
  }
  template <class T>
  static Vector6T<T> bias(const JointShape&, const T*, const T*) {
    return Vector6T<T>::Zero();
  }
};

}  // namespace kinegraph::screw
