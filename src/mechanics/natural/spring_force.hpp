#pragma once

#include <array>
#include <cmath>

#include "kinegraph/base/sparse.hpp"

namespace kinegraph::natural {

/// A spring and damper between points a and b, d = b − a.
///
///     l = √(d·d + ε²),   Q_a = f d,   Q_b = −f d,   f = k (1 − l₀/l) + c (d·ḋ)/l²,   V = ½ k (l − l₀)²
///
/// ε is a billionth of the mechanism's size: invisible in double precision until the ends meet, where it keeps the
/// direction of the force and its derivatives finite. Coordinates: x_a y_a x_b y_b.
struct SpringForce {
  static constexpr int kCoordinates = 4;
  using Local = std::array<double, 4>;
  double stiffness = 0, rest = 0, damping = 0, epsilon = 0;

  static constexpr std::array<Entry, 16> kPattern{{{0, 0},
                                                   {0, 1},
                                                   {0, 2},
                                                   {0, 3},
                                                   {1, 0},
                                                   {1, 1},
                                                   {1, 2},
                                                   {1, 3},
                                                   {2, 0},
                                                   {2, 1},
                                                   {2, 2},
                                                   {2, 3},
                                                   {3, 0},
                                                   {3, 1},
                                                   {3, 2},
                                                   {3, 3}}};

  template <class T = double>
  std::array<T, 4> force(const std::array<T, 4>& x, const std::array<T, 4>& v, double /*t*/) const {
    const Line<T> d(*this, x, v);
    const T fx = d.factor * d.x, fy = d.factor * d.y;
    return {fx, fy, -fx, -fy};
  }

  // ∂(f d)/∂d = f I + d ⊗ (k l₀/l³ d + c ḋ/l² − 2c (d·ḋ)/l⁴ d)
  std::array<double, 16> by_position(const Local& x, const Local& v, double /*t*/) const {
    const Line<double> d(*this, x, v);
    const double radial = stiffness * rest / (d.l2 * std::sqrt(d.l2)) - 2 * damping * d.dot / (d.l2 * d.l2);
    const double gx = radial * d.x + damping / d.l2 * d.vx, gy = radial * d.y + damping / d.l2 * d.vy;
    return spread(d.factor + d.x * gx, d.x * gy, d.y * gx, d.factor + d.y * gy);
  }

  // ∂(f d)/∂ḋ = c d ⊗ d / l²
  std::array<double, 16> by_velocity(const Local& x, const Local& v, double /*t*/) const {
    const Line<double> d(*this, x, v);
    const double c = damping / d.l2;
    return spread(c * d.x * d.x, c * d.x * d.y, c * d.y * d.x, c * d.y * d.y);
  }

  double potential(const Local& x) const {
    const double stretch = std::sqrt(Line<double>(*this, x, {}).l2) - rest;
    return 0.5 * stiffness * stretch * stretch;
  }

 private:
  template <class T>
  struct Line {
    T x, y, vx, vy, l2, dot, factor;
    Line(const SpringForce& s, const std::array<T, 4>& q, const std::array<T, 4>& v)
        : x(q[2] - q[0]), y(q[3] - q[1]), vx(v[2] - v[0]), vy(v[3] - v[1]) {
      using std::sqrt;
      l2 = x * x + y * y + T(s.epsilon * s.epsilon);
      dot = x * vx + y * vy;
      factor = s.stiffness * (T(1) - s.rest / sqrt(l2)) + s.damping * dot / l2;
    }
  };
  // A = ∂(f d)/∂d by the ends: Q = (f d, −f d), d = b − a
  static std::array<double, 16> spread(double xx, double xy, double yx, double yy) {
    return {-xx, -xy, xx, xy, -yx, -yy, yx, yy, xx, xy, -xx, -xy, yx, yy, -yx, -yy};
  }
};

}  // namespace kinegraph::natural
