#pragma once

#include "kinegraph/mechanics/sensor/accelerometer.hpp"
#include "kinegraph/mechanics/sensor/gyroscope.hpp"

namespace kinegraph::sensor {

/// A gyroscope and an accelerometer in one place.     y = (y_gyroscope, y_accelerometer)
struct Imu {
  static constexpr int kPlanar = Gyroscope::kPlanar + Accelerometer::kPlanar;
  static constexpr int kSpatial = Gyroscope::kSpatial + Accelerometer::kSpatial;
  static constexpr Needs kNeeds{.on = Level::acceleration};
  template <class T>
  static void read(const View<T>& see, T* y) {
    Gyroscope::read(see, y);
    Accelerometer::read(see, y + (see.planar ? Gyroscope::kPlanar : Gyroscope::kSpatial));
  }
};

}  // namespace kinegraph::sensor
