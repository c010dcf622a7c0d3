#pragma once

#include "kinegraph/lie/so3.hpp"

namespace kinegraph {

/// Poses of space: X_WB takes points of frame B to frame W. Stored as a unit quaternion w x y z, then the position
/// x y z. The tangent is a twist, angular first: (ω, v).
template <class T>
class SE3T {
 public:
  static constexpr int kStored = 7, kTangent = 6;
  using Scalar = T;
  using Tangent = Eigen::Matrix<T, 6, 1>;
  using Square = Eigen::Matrix<T, 6, 6>;
  using Point = Eigen::Matrix<T, 3, 1>;
  using Matrix3 = Eigen::Matrix<T, 3, 3>;

  SE3T() : position_(Point::Zero()) {}
  SE3T(const SO3T<T>& rotation, const Point& position) : rotation_(rotation), position_(position) {}

  static SE3T load(const T* stored) { return SE3T(SO3T<T>::load(stored), Point(stored[4], stored[5], stored[6])); }
  void store(T* stored) const {
    rotation_.store(stored);
    for (int i = 0; i < 3; ++i) stored[4 + i] = position_[i];
  }

  /// exp(ω, v) = (exp ω, J(ω) v)
  static SE3T exp(const Tangent& x) {
    const Point omega = x.template head<3>();
    return SE3T(SO3T<T>::exp(omega), SO3T<T>::left_jacobian(omega) * x.template tail<3>());
  }
  Tangent log() const {
    Tangent x;
    const Point omega = rotation_.log();
    x << omega, SO3T<T>::left_jacobian_inverse(omega) * position_;
    return x;
  }

  SE3T inverse() const {
    const SO3T<T> r = rotation_.inverse();
    return SE3T(r, -(r * position_));
  }
  SE3T operator*(const SE3T& other) const {
    return SE3T(rotation_ * other.rotation_, position_ + rotation_ * other.position_);
  }
  Point operator*(const Point& p) const { return rotation_ * p + position_; }

  /// Ad(X_AB) takes a twist expressed in B to A:  [R 0; p^R R]
  Square Ad() const {
    const Matrix3 r = rotation_.matrix();
    return blocks(r, skew<T>(position_) * r);
  }
  /// ad(x) y = [x, y]:  [ω^ 0; v^ ω^]
  static Square ad(const Tangent& x) { return blocks(skew<T>(x.template head<3>()), skew<T>(x.template tail<3>())); }

  /// exp(x + δ) ≈ exp(J δ) exp(x):  J = [J(ω) 0; Q(ω, v) J(ω)]
  static Square left_jacobian(const Tangent& x) {
    return blocks(SO3T<T>::left_jacobian(x.template head<3>()), coupling(x));
  }
  /// [J⁻¹ 0; −J⁻¹ Q J⁻¹  J⁻¹]
  static Square left_jacobian_inverse(const Tangent& x) {
    const Matrix3 inverse = SO3T<T>::left_jacobian_inverse(x.template head<3>());
    return blocks(inverse, -inverse * coupling(x) * inverse);
  }
  static Square right_jacobian(const Tangent& x) { return left_jacobian(-x); }
  static Square right_jacobian_inverse(const Tangent& x) { return left_jacobian_inverse(-x); }

  static Eigen::Matrix<T, 4, 4> hat(const Tangent& x) {
    Eigen::Matrix<T, 4, 4> m = Eigen::Matrix<T, 4, 4>::Zero();
    m.template topLeftCorner<3, 3>() = skew<T>(x.template head<3>());
    m.template topRightCorner<3, 1>() = x.template tail<3>();
    return m;
  }
  Eigen::Matrix<T, 4, 4> matrix() const {
    Eigen::Matrix<T, 4, 4> m = Eigen::Matrix<T, 4, 4>::Identity();
    m.template topLeftCorner<3, 3>() = rotation_.matrix();
    m.template topRightCorner<3, 1>() = position_;
    return m;
  }
  const SO3T<T>& rotation() const { return rotation_; }
  const Point& position() const { return position_; }

 private:
  static Square blocks(const Matrix3& diagonal, const Matrix3& lower) {
    Square m;
    m << diagonal, Matrix3::Zero(), lower, diagonal;
    return m;
  }

  /// Q = ½ v^ + c₃ (ω^v^ + v^ω^ + ω^v^ω^) + c₄ (ω^²v^ + v^ω^² − 3 ω^v^ω^) + ½(c₄ − 3 c₅)(ω^v^ω^² + ω^²v^ω^)
  /// (Barfoot, State Estimation for Robotics, eq. 7.86, with Stumpff functions for its quotients)
  static Matrix3 coupling(const Tangent& x) {
    const Matrix3 w = skew<T>(x.template head<3>()), v = skew<T>(x.template tail<3>());
    const Stumpff<T> c(x.template head<3>().squaredNorm());
    const Matrix3 wv = w * v, vw = v * w, wvw = wv * w;
    return T(0.5) * v + c.c3 * (wv + vw + wvw) + c.c4 * (w * wv + vw * w - T(3.0) * wvw) +
           T(0.5) * (c.c4 - T(3.0) * c.c5) * (wvw * w + w * wvw);
  }

  SO3T<T> rotation_;
  Point position_;
};

using SE3 = SE3T<double>;

}  // namespace kinegraph
