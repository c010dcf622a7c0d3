#pragma once

#include "kinegraph/mechanics/sensor/view.hpp"

namespace kinegraph::sensor {

/// The rate of a relative coordinate, or of one freedom of a joint.     y = q̇
struct Tachometer {
  static constexpr int kPlanar = 1, kSpatial = 1;
  static constexpr Needs kNeeds{.rate = true};
  template <class T>
  static void read(const View<T>& see, T* y) {
    y[0] = see.rate;
  }
};

}  // namespace kinegraph::sensor
