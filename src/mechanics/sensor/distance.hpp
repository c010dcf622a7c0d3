#pragma once

#include <cmath>

#include "kinegraph/mechanics/sensor/view.hpp"

namespace kinegraph::sensor {

/// Between two points, each on a body or in the world.     y = |p₂ − p₁|
struct Distance {
  static constexpr int kPlanar = 1, kSpatial = 1;
  static constexpr Needs kNeeds{.on = Level::position, .other = Level::position};
  template <class T>
  static void read(const View<T>& see, T* y) {
    using std::sqrt;
    const T square = (see.other.position(see.mounting.other_at) - see.on.position(see.mounting.at)).squaredNorm();
    // where the points meet no direction leads to a change at first order that has a sign: none is told
    y[0] = square > T(0.0) ? sqrt(square) : T(0.0);
  }
};

}  // namespace kinegraph::sensor
