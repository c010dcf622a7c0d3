#pragma once

#include "kinegraph/mechanics/sensor/view.hpp"

namespace kinegraph::sensor {

/// The value of a relative coordinate, or of one number of a joint.     y = q
struct Encoder {
  static constexpr int kPlanar = 1, kSpatial = 1;
  static constexpr Needs kNeeds{.coordinate = true};
  template <class T>
  static void read(const View<T>& see, T* y) {
    y[0] = see.coordinate;
  }
};

}  // namespace kinegraph::sensor
