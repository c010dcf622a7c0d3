#pragma once

#include "kinegraph/mechanics/screw/joint/shape.hpp"

namespace kinegraph::screw {

/// Turns any way. q is a unit quaternion (w x y z), v the angular velocity seen from M.     S = [1; 0]
struct Ball {
  static constexpr int kStored = 4, kFreedoms = 3;
  static constexpr bool kConstant = true;
  template <class T>
  static Transform<T> transform(const JointShape&, const T* q) {
    return {SO3T<T>::load(q).matrix(), Vector3T<T>::Zero()};
  }
  template <class T>
  static Subspace<T, 3> subspace(const JointShape&, const T*) {
    return Subspace<T, 3>::Identity();
  }
  template <class T>
  static Vector6T<T> bias(const JointShape&, const T*, const T*) {
    return Vector6T<T>::Zero();
  }
  template <class T>
  static void retract(const T* q, const T* delta, T* out) {
    (SO3T<T>::load(q) * SO3T<T>::exp(Vector3T<T>(delta[0], delta[1], delta[2]))).store(out);
  }
};

}  // namespace kinegraph::screw
