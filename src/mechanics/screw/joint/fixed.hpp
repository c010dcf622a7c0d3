#pragma once

#include "kinegraph/mechanics/screw/joint/shape.hpp"

namespace kinegraph::screw {

/// Does not move. Only where it closes a loop: elsewhere the links are merged into one body.
struct Fixed {
  static constexpr int kStored = 0, kFreedoms = 0;
  static constexpr bool kConstant = true;
  template <class T>
  static Transform<T> transform(const JointShape&, const T*) {
    return {};
  }
  template <class T>
  static Subspace<T, 0> subspace(const JointShape&, const T*) {
    return {};
  }
  template <class T>
  static Vector6T<T> bias(const JointShape&, const T*, const T*) {
    return Vector6T<T>::Zero();
  }
  template <class T>
  static void retract(const T*, const T*, T*) {}
};

}  // namespace kinegraph::screw
