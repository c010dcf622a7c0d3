#pragma once

#include "kinegraph/mechanics/sensor/view.hpp"

namespace kinegraph::sensor {

/// Where a point of a body is, in world axes: a marker seen by a camera.     y = p + R at      planar: x and y of it
struct Position {
  static constexpr int kPlanar = 2, kSpatial = 3;
  static constexpr Needs kNeeds{.on = Level::position};
  template <class T>
  static void read(const View<T>& see, T* y) {
    const Vector3<T> point = see.on.position(see.mounting.at);
    for (int i = 0; i < (see.planar ? kPlanar : kSpatial); ++i) y[i] = point[i];
  }
};

}  // namespace kinegraph::sensor
