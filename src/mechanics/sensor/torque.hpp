#pragma once

#include "kinegraph/mechanics/sensor/view.hpp"

namespace kinegraph::sensor {

/// What a motor exerts on its coordinate, or the motor of a joint along one freedom.     y = τ
struct Torque {
  static constexpr int kPlanar = 1, kSpatial = 1;
  static constexpr Needs kNeeds{.torque = true};
  template <class T>
  static void read(const View<T>& see, T* y) {
    y[0] = see.torque;
  }
};

}  // namespace kinegraph::sensor
