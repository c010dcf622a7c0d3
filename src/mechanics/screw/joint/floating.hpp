#pragma once

#include "kinegraph/mechanics/screw/joint/shape.hpp"

namespace kinegraph::screw {

/// Moves any way. q is a unit quaternion (w x y z) and a position, v the twist (ω, v) seen from M.     S = 1
struct Floating {
  static constexpr int kStored = 7, kFreedoms = 6;
  static constexpr bool kConstant = true;
  template <class T>
  static Transform<T> transform(const JointShape&, const T* q) {
    return Transform<T>(SE3T<T>::load(q));
  }
  template <class T>
  static Subspace<T, 6> subspace(const JointShape&, const T*) {
    return Subspace<T, 6>::Identity();
  }
  template <class T>
  static Vector6T<T> bias(const JointShape&, const T*, const T*) {
    return Vector6T<T>::Zero();
  }
  template <class T>
  static void retract(const T* q, const T* delta, T* out) {
    (SE3T<T>::load(q) * SE3T<T>::exp(Eigen::Map<const Vector6T<T>>(delta))).store(out);
  }
};

}  // namespace kinegraph::screw
