#pragma once

#include <Eigen/Core>

#include "kinegraph/lie/se3.hpp"

namespace kinegraph::screw {

template <class T>
using Vector3T = Eigen::Matrix<T, 3, 1>;
template <class T>
using Matrix3T = Eigen::Matrix<T, 3, 3>;
template <class T>
using Vector6T = Eigen::Matrix<T, 6, 1>;
template <class T>
using Matrix6T = Eigen::Matrix<T, 6, 6>;
using Vector6d = Vector6T<double>;
using Matrix6d = Matrix6T<double>;

/// X_AB, as a rotation matrix and a position: where quaternions would be turned into matrices again and again.
template <class T>
struct Transform {
  Matrix3T<T> R = Matrix3T<T>::Identity();
  Vector3T<T> p = Vector3T<T>::Zero();

  Transform() = default;
  Transform(const Matrix3T<T>& rotation, const Vector3T<T>& position) : R(rotation), p(position) {}
  explicit Transform(const SE3T<T>& x) : R(x.rotation().matrix()), p(x.position()) {}

  Transform operator*(const Transform& o) const { return {R * o.R, p + R * o.p}; }
  Vector3T<T> operator*(const Vector3T<T>& point) const { return R * point + p; }
  Transform inverse() const { return {R.transpose(), -(R.transpose() * p)}; }

  /// Ad(X_AB) y: a twist seen from B, seen from A.   (R ω, p × R ω + R v)
  Vector6T<T> twist(const Vector6T<T>& y) const {
    Vector6T<T> x;
    x.template head<3>() = R * y.template head<3>();
    x.template tail<3>() = p.cross(x.template head<3>()) + R * y.template tail<3>();
    return x;
  }
  /// Ad(X_AB)⁻¹ x: a twist seen from A, seen from B.   (Rᵀ ω, Rᵀ (v − p × ω))
  Vector6T<T> twist_back(const Vector6T<T>& x) const {
    Vector6T<T> y;
    y.template head<3>() = R.transpose() * x.template head<3>();
    y.template tail<3>() = R.transpose() * (x.template tail<3>() - p.cross(x.template head<3>()));
    return y;
  }
  /// Ad(X_AB)⁻ᵀ y: a wrench (m, f) seen from B, seen from A.   (R m + p × R f, R f)
  Vector6T<T> wrench(const Vector6T<T>& y) const {
    Vector6T<T> x;
    x.template tail<3>() = R * y.template tail<3>();
    x.template head<3>() = R * y.template head<3>() + p.cross(x.template tail<3>());
    return x;
  }
  /// Ad(X_AB)ᵀ x: a wrench seen from A, seen from B.
  Vector6T<T> wrench_back(const Vector6T<T>& x) const {
    Vector6T<T> y;
    y.template tail<3>() = R.transpose() * x.template tail<3>();
    y.template head<3>() = R.transpose() * (x.template head<3>() - p.cross(x.template tail<3>()));
    return y;
  }
  Matrix6T<T> Ad() const {
    Matrix6T<T> m;
    m << R, Matrix3T<T>::Zero(), skew<T>(p) * R, R;
    return m;
  }
};

/// ad(x) y = (ω × ω', ω × v' + v × ω')
template <class T>
Vector6T<T> cross_twist(const Vector6T<T>& x, const Vector6T<T>& y) {
  const Vector3T<T> w = x.template head<3>(), v = x.template tail<3>();
  Vector6T<T> z;
  z << w.cross(y.template head<3>()), w.cross(y.template tail<3>()) + v.cross(y.template head<3>());
  return z;
}

/// −ad(x)ᵀ y = (ω × m + v × f, ω × f)
template <class T>
Vector6T<T> cross_wrench(const Vector6T<T>& x, const Vector6T<T>& y) {
  const Vector3T<T> w = x.template head<3>(), v = x.template tail<3>();
  Vector6T<T> z;
  z << w.cross(y.template head<3>()) + v.cross(y.template tail<3>()), w.cross(y.template tail<3>());
  return z;
}

}  // namespace kinegraph::screw
