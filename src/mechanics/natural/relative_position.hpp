#pragma once

#include <array>

#include "kinegraph/base/sparse.hpp"

namespace kinegraph::natural {

/// s is how far p lies along the line a → b, from a; a and b are L apart, on one body or both fixed.
///
///     Φ = (p − a) · (b − a) − L s
///
/// Coordinates: x_a y_a x_b y_b x y s.
struct RelativePosition {
  static constexpr int kCoordinates = 7;
  double length = 1;

  template <class T>
  T phi(const std::array<T, 7>& x, double /*t*/) const {
    return (x[4] - x[0]) * (x[2] - x[0]) + (x[5] - x[1]) * (x[3] - x[1]) - length * x[6];
  }

  template <class T>
  std::array<T, 7> gradient(const std::array<T, 7>& x) const {
    return {x[0] - x[2] + (x[0] - x[4]),
            x[1] - x[3] + (x[1] - x[5]),
            x[4] - x[0],
            x[5] - x[1],
            x[2] - x[0],
            x[3] - x[1],
            T(-length)};
  }

  static constexpr std::array<Entry, 8> kHessian{{{0, 0}, {2, 0}, {4, 0}, {4, 2}, {1, 1}, {3, 1}, {5, 1}, {5, 3}}};
  std::array<double, 8> hessian(const std::array<double, 7>&) const { return {2, -1, -1, 1, 2, -1, -1, 1}; }
};

}  // namespace kinegraph::natural
