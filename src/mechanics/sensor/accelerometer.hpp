#pragma once

#include "kinegraph/mechanics/sensor/view.hpp"

namespace kinegraph::sensor {

/// The specific force at a point of a body: its acceleration less gravity, in the sensor's axes.
///
///     y = R_WSᵀ (a + α × r + ω × (ω × r) − g),   r = R_WB at      planar: x and y of it
///
/// At rest it reads what holds the sensor up: −g.
struct Accelerometer {
  static constexpr int kPlanar = 2, kSpatial = 3;
  static constexpr Needs kNeeds{.on = Level::acceleration};
  template <class T>
  static void read(const View<T>& see, T* y) {
    const Vector3<T> force = see.in_axes(see.on.acceleration(see.mounting.at) - see.down.template cast<T>());
    for (int i = 0; i < (see.planar ? kPlanar : kSpatial); ++i) y[i] = force[i];
  }
};

}  // namespace kinegraph::sensor
