#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cmath>
#include <type_traits>

#include "kinegraph/lie/stumpff.hpp"

namespace kinegraph {

/// The cross product as a matrix: skew(a) b = a × b. Written a^ in formulas.
template <class T>
Eigen::Matrix<T, 3, 3> skew(const Eigen::Matrix<T, 3, 1>& a) {
  Eigen::Matrix<T, 3, 3> m;
  m << T(0.0), -a[2], a[1], a[2], T(0.0), -a[0], -a[1], a[0], T(0.0);
  return m;
}

/// Rotations of space, stored as a unit quaternion w x y z. The tangent is a rotation vector φ.
template <class T>
class SO3T {
 public:
  static constexpr int kStored = 4, kTangent = 3;
  using Scalar = T;
  using Tangent = Eigen::Matrix<T, 3, 1>;
  using Square = Eigen::Matrix<T, 3, 3>;
  using Point = Eigen::Matrix<T, 3, 1>;

  SO3T() : q_(T(1.0), T(0.0), T(0.0), T(0.0)) {}
  /// Normalises; a quaternion that already has unit length keeps its bits.
  explicit SO3T(const Eigen::Quaternion<T>& q) : q_(q) { normalise(); }
  explicit SO3T(const Square& rotation) : q_(rotation) { normalise(); }

  static SO3T load(const T* stored) { return SO3T(Eigen::Quaternion<T>(stored[0], stored[1], stored[2], stored[3])); }
  void store(T* stored) const { stored[0] = q_.w(), stored[1] = q_.x(), stored[2] = q_.y(), stored[3] = q_.z(); }

  /// q = (cos θ/2, (sin θ/2 / θ) φ)
  static SO3T exp(const Tangent& phi) {
    const Stumpff<T> half(phi.squaredNorm() * T(0.25));
    const Tangent v = T(0.5) * half.c1 * phi;
    return SO3T(Eigen::Quaternion<T>(half.c0, v[0], v[1], v[2]));
  }

  /// φ = 2 atan2(|v|, w) v / |v|, of the two quaternions ±q the one with w ≥ 0: |φ| ≤ π.
  Tangent log() const {
    using std::atan2, std::sqrt;
    const T sign = q_.w() < T(0.0) ? T(-1.0) : T(1.0);
    const T w = sign * q_.w();
    const Tangent v = sign * q_.vec();
    const T n2 = v.squaredNorm();
    if (n2 > T(1e-4)) {
      const T n = sqrt(n2);
      return (T(2.0) * atan2(n, w) / n) * v;
    }
    // atan(n/w)/n = (1/w) Σ (−x)ᵏ/(2k+1),  x = n²/w²
    const T x = n2 / (w * w);
    const T series = T(1.0) - x * (T(1.0 / 3) - x * (T(1.0 / 5) - x * (T(1.0 / 7) - x * T(1.0 / 9))));
    return (T(2.0) * series / w) * v;
  }

  SO3T inverse() const { return SO3T(q_.conjugate()); }
  SO3T operator*(const SO3T& other) const { return SO3T(q_ * other.q_); }
  Point operator*(const Point& p) const { return q_ * p; }

  Square Ad() const { return matrix(); }
  static Square ad(const Tangent& x) { return skew<T>(x); }

  /// J(φ) = I + c₂ φ^ + c₃ φ^²:  exp(φ + δ) ≈ exp(J δ) exp(φ)
  static Square left_jacobian(const Tangent& phi) {
    const Stumpff<T> c(phi.squaredNorm());
    const Square hat = skew<T>(phi);
    return Square::Identity() + c.c2 * hat + c.c3 * hat * hat;
  }
  /// J⁻¹(φ) = I − ½ φ^ + (1 − (θ/2) cot(θ/2))/θ² φ^²
  static Square left_jacobian_inverse(const Tangent& phi) {
    const Stumpff<T> c(phi.squaredNorm());
    const Square hat = skew<T>(phi);
    return Square::Identity() - T(0.5) * hat + c.inverse_jacobian() * hat * hat;
  }
  /// exp(φ + δ) ≈ exp(φ) exp(Jᵣ δ),  Jᵣ(φ) = J(−φ)
  static Square right_jacobian(const Tangent& phi) { return left_jacobian(-phi); }
  static Square right_jacobian_inverse(const Tangent& phi) { return left_jacobian_inverse(-phi); }

  static Square hat(const Tangent& x) { return skew<T>(x); }
  Square matrix() const { return q_.toRotationMatrix(); }
  const Eigen::Quaternion<T>& quaternion() const { return q_; }

 private:
  // One Newton step of 1/√n where the norm is already near one: drift cannot build up over millions of products.
  void normalise() {
    using std::abs, std::sqrt;
    const T n2 = q_.coeffs().squaredNorm();
    const T error = n2 - T(1.0);
    if constexpr (std::is_floating_point_v<T>) {
      if (abs(error) < T(1e-15)) return;
    }
    q_.coeffs() *= abs(error) < T(1e-8) ? T(1.0) - T(0.5) * error : T(1.0) / sqrt(n2);
  }

  Eigen::Quaternion<T> q_;
};

using SO3 = SO3T<double>;

}  // namespace kinegraph
