#pragma once

#include "kinegraph/mechanics/sensor/view.hpp"

namespace kinegraph::sensor {

/// What goes through a joint.
///
///     planar:   y = f                            in world axes, with the sign that natural::Reactions gives it
///     spatial:  y = (R_BSᵀ m, R_BSᵀ f)           on the joint's child, at the joint's frame, in the sensor's axes
///     there
struct LoadCell {
  static constexpr int kPlanar = 2, kSpatial = 6;
  static constexpr Needs kNeeds{.reaction = true};
  template <class T>
  static void read(const View<T>& see, T* y) {
    if (see.planar) {
      y[0] = see.force[0], y[1] = see.force[1];
      return;
    }
    const Matrix3<T> R_SB = see.mounting.R_BS.transpose().template cast<T>();
    Eigen::Map<Vector3<T>>{y} = R_SB * see.moment;
    Eigen::Map<Vector3<T>>{y + 3} = R_SB * see.force;
  }
};

}  // namespace kinegraph::sensor
