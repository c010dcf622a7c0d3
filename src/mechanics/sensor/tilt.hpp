#pragma once

#include <cmath>
#include <numbers>

#include "kinegraph/mechanics/sensor/view.hpp"

namespace kinegraph::sensor {

/// How a body leans against the vertical u, the opposite of gravity (without gravity: z; planar: y), seen in the
/// sensor's axes as s = R_WSᵀ u.
///
///     planar:   angle = atan2(s_x, s_y)      of the sensor's x axis against the horizontal
///     spatial:  roll = atan2(s_y, s_z),   pitch = atan2(−s_x, √(s_y² + s_z²)),     R_WS = Rz(yaw) Ry(pitch) Rx(roll)
struct Tilt {
  static constexpr int kPlanar = 1, kSpatial = 2;
  static constexpr Needs kNeeds{.on = Level::position};
  template <class T>
  static void read(const View<T>& see, T* y) {
    using std::atan2, std::sqrt;
    const Vector3<T> s = see.in_axes(up(see.down, see.planar).template cast<T>());
    if (see.planar) {
      y[0] = atan2(s[0], s[1]);
      return;
    }
    const T across = s[1] * s[1] + s[2] * s[2];
    const bool upright = across < T(1e-24);  // x is vertical: any roll is right, and nothing has a derivative
    y[0] = upright ? T(0.0) : atan2(s[1], s[2]);
    y[1] = upright ? T(s[0] < T(0.0) ? kQuarter : -kQuarter) : atan2(-s[0], sqrt(across));
  }

 private:
  static constexpr double kQuarter = std::numbers::pi / 2;
  static Eigen::Vector3d up(const Eigen::Vector3d& down, bool planar) {
    const double size = down.norm();
    if (size > 0) return -down / size;
    return planar ? Eigen::Vector3d::UnitY() : Eigen::Vector3d::UnitZ();
  }
};

}  // namespace kinegraph::sensor
