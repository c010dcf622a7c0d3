#pragma once

#include <array>
#include <cmath>

#include "kinegraph/base/sparse.hpp"
#include "kinegraph/base/taylor.hpp"

namespace kinegraph::natural {

/// θ is the angle from the line a = p₁ − p₀ to the line b = p₃ − p₂.     Φ = cos θ (a × b) − sin θ (a · b)
/// With a along the x axis and |a| = 1 it is the absolute angle's. Coordinates: x₀ y₀ x₁ y₁ x₂ y₂ x₃ y₃ θ.
struct RelativeAngle {
  static constexpr int kCoordinates = 9;

  template <class T>
  T phi(const std::array<T, 9>& x, double /*t*/) const {
    using std::cos, std::sin;
    const T ax = x[2] - x[0], ay = x[3] - x[1], bx = x[6] - x[4], by = x[7] - x[5];
    return cos(x[8]) * (ax * by - ay * bx) - sin(x[8]) * (ax * bx + ay * by);
  }

  template <class T>
  std::array<T, 9> gradient(const std::array<T, 9>& x) const {
    using std::cos, std::sin;
    const T ax = x[2] - x[0], ay = x[3] - x[1], bx = x[6] - x[4], by = x[7] - x[5];
    const T c = cos(x[8]), s = sin(x[8]);
    // Φ_a = c (b_y, −b_x) − s b,   Φ_b = c (−a_y, a_x) − s a
    const T fax = c * by - s * bx, fay = -(c * bx + s * by);
    const T fbx = -(c * ay + s * ax), fby = c * ax - s * ay;
    return {-fax, -fay, fax, fay, -fbx, -fby, fbx, fby, -(s * (ax * by - ay * bx) + c * (ax * bx + ay * by))};
  }

  static constexpr std::array<Entry, 25> kHessian{
      {{4, 0}, {5, 0}, {6, 0}, {7, 0}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {4, 2}, {5, 2}, {6, 2}, {7, 2}, {4, 3},
       {5, 3}, {6, 3}, {7, 3}, {8, 0}, {8, 1}, {8, 2}, {8, 3}, {8, 4}, {8, 5}, {8, 6}, {8, 7}, {8, 8}}};
  std::array<double, 25> hessian(const std::array<double, 9>& x) const {
    const double ax = x[2] - x[0], ay = x[3] - x[1], bx = x[6] - x[4], by = x[7] - x[5];
    const double c = std::cos(x[8]), s = std::sin(x[8]);
    // Φ_ab = [−s c; −c −s], with the sign + for equal ends of the two lines and − for opposite ones
    const double ta_x = -(s * by + c * bx), ta_y = s * bx - c * by;  // Φ_aθ
    const double tb_x = s * ay - c * ax, tb_y = -(s * ax + c * ay);  // Φ_bθ
    return {-s,
            c,
            s,
            -c,
            -c,
            -s,
            c,
            s,  //
            s,
            -c,
            -s,
            c,
            c,
            s,
            -c,
            -s,  //
            -ta_x,
            -ta_y,
            ta_x,
            ta_y,
            -tb_x,
            -tb_y,
            tb_x,
            tb_y,  //
            s * (ax * bx + ay * by) - c * (ax * by - ay * bx)};
  }
};

}  // namespace kinegraph::natural
