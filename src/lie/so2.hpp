#pragma once

#include <Eigen/Core>
#include <cmath>
#include <numbers>

namespace kinegraph {

/// The angle that differs from `a` by whole turns and lies in [−π, π].
template <class T>
T wrap_angle(const T& a) {
  using std::floor;
  constexpr double turn = 2 * std::numbers::pi;
  return a - T(turn) * floor(a / T(turn) + T(0.5));
}

/// Rotations of the plane, stored as an angle. The angle is kept as it comes, so that a crank may count its turns;
/// only log() wraps it.
template <class T>
class SO2T {
 public:
  static constexpr int kStored = 1, kTangent = 1;
  using Scalar = T;
  using Tangent = Eigen::Matrix<T, 1, 1>;
  using Square = Eigen::Matrix<T, 1, 1>;
  using Point = Eigen::Matrix<T, 2, 1>;

  SO2T() = default;
  explicit SO2T(const T& angle) : angle_(angle) {}

  static SO2T load(const T* stored) { return SO2T(stored[0]); }
  void store(T* stored) const { stored[0] = angle_; }

  static SO2T exp(const Tangent& x) { return SO2T(x[0]); }
  Tangent log() const { return Tangent(wrap_angle(angle_)); }
  SO2T inverse() const { return SO2T(-angle_); }
  SO2T operator*(const SO2T& other) const { return SO2T(angle_ + other.angle_); }
  Point operator*(const Point& p) const { return matrix() * p; }

  Square Ad() const { return Square::Identity(); }
  static Square ad(const Tangent&) { return Square::Zero(); }
  static Square left_jacobian(const Tangent&) { return Square::Identity(); }
  static Square right_jacobian(const Tangent&) { return Square::Identity(); }
  static Square left_jacobian_inverse(const Tangent&) { return Square::Identity(); }
  static Square right_jacobian_inverse(const Tangent&) { return Square::Identity(); }

  /// The matrix of the Lie algebra element: exp(x) is the matrix exponential of hat(x).
  static Eigen::Matrix<T, 2, 2> hat(const Tangent& x) {
    Eigen::Matrix<T, 2, 2> m;
    m << T(0.0), -x[0], x[0], T(0.0);
    return m;
  }
  Eigen::Matrix<T, 2, 2> matrix() const {
    using std::cos, std::sin;
    const T c = cos(angle_), s = sin(angle_);
    Eigen::Matrix<T, 2, 2> m;
    m << c, -s, s, c;
    return m;
  }
  const T& angle() const { return angle_; }

 private:
  T angle_ = T(0.0);
};

using SO2 = SO2T<double>;

}  // namespace kinegraph
