#pragma once

#include "kinegraph/mechanics/screw/joint/shape.hpp"

namespace kinegraph::screw {

/// Slides along z.     X = (1, q e_z),   S = (0, e_z)
struct Prismatic : PlainCoordinates<1> {
  static constexpr bool kConstant = true;
  template <class T>
  static Transform<T> transform(const JointShape&, const T* q) {
    return {Matrix3T<T>::Identity(), Vector3T<T>(T(0.0), T(0.0), q[0])};
  }
  template <class T>
  static Subspace<T, 1> subspace(const JointShape&, const T*) {
    return Subspace<T, 1>::Unit(5);
  }
  template <class T>
  static Vector6T<T> bias(const JointShape&, const T*, const T*) {
    return Vector6T<T>::Zero();
  }
};

}  // namespace kinegraph::screw
