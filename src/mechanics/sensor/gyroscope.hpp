#pragma once

#include "kinegraph/mechanics/sensor/view.hpp"

namespace kinegraph::sensor {

/// The angular velocity of a body, in the sensor's axes.     y = R_WSᵀ ω      planar: y = ω_z      (004, eq. 13)
struct Gyroscope {
  static constexpr int kPlanar = 1, kSpatial = 3;
  static constexpr Needs kNeeds{.on = Level::velocity};
  template <class T>
  static void read(const View<T>& see, T* y) {
    if (see.planar) {
      y[0] = see.on.omega[2];
    } else {
      Eigen::Map<Vector3<T>>{y} = see.in_axes(see.on.omega);
    }
  }
};

}  // namespace kinegraph::sensor
