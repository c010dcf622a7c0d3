#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace kinegraph::sensor {

template <class T>
using Vector3 = Eigen::Matrix<T, 3, 1>;
template <class T>
using Matrix3 = Eigen::Matrix<T, 3, 3>;

/// The motion of a body, of its frame's origin, in world axes. What lies above the level asked for is left as made.
template <class T>
struct BodyState {
  Matrix3<T> R = Matrix3<T>::Identity();
  Vector3<T> p = Vector3<T>::Zero();
  Vector3<T> omega = Vector3<T>::Zero(), v = Vector3<T>::Zero();
  Vector3<T> alpha = Vector3<T>::Zero(), a = Vector3<T>::Zero();

  /// Of a point at r in the body's frame.   p + R r
  Vector3<T> position(const Eigen::Vector3d& r) const { return p + R * r.cast<T>(); }
  /// v + ω × R r
  Vector3<T> velocity(const Eigen::Vector3d& r) const { return v + omega.cross(R * r.cast<T>()); }
  /// a + α × R r + ω × (ω × R r)
  Vector3<T> acceleration(const Eigen::Vector3d& r) const {
    const Vector3<T> arm = R * r.cast<T>();
    return a + alpha.cross(arm) + omega.cross(omega.cross(arm));
  }
};

/// How much of a body's motion a sensor sees.
enum class Level { none, position, velocity, acceleration };

/// What a sensor's equation reads of a View: the rest is not computed.
struct Needs {
  Level on = Level::none, other = Level::none;
  bool coordinate = false, rate = false, torque = false, reaction = false;
};

/// Where a sensor sits, in the frame of the body that the formulation moves.
struct Mounting {
  Eigen::Vector3d at = Eigen::Vector3d::Zero(), other_at = Eigen::Vector3d::Zero();
  Eigen::Matrix3d R_BS = Eigen::Matrix3d::Identity();
};

/// A machine as one sensor sees it: the same for planar machines in natural coordinates and for robots, so that every
/// sensor has one equation.
template <class T>
struct View {
  View(bool is_planar, const Eigen::Vector3d& gravity, const Mounting& where)
      : planar(is_planar), down(gravity), mounting(where) {}

  bool planar;                  ///< the machine lives in the plane z = 0
  const Eigen::Vector3d& down;  ///< gravity, in world axes
  const Mounting& mounting;
  BodyState<T> on, other;
  T coordinate = T(0.0), rate = T(0.0), torque = T(0.0);
  Vector3<T> moment = Vector3<T>::Zero(), force = Vector3<T>::Zero();  ///< load cell: on the child, in its axes

  /// A vector of the world, in the sensor's axes.
  Vector3<T> in_axes(const Vector3<T>& x) const {
    return mounting.R_BS.transpose().template cast<T>() * (on.R.transpose() * x);
  }
};

}  // namespace kinegraph::sensor
