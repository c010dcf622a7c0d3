#pragma once

#include <array>

#include "kinegraph/base/sparse.hpp"

namespace kinegraph::natural {

/// A point p stays on the line through a and b, fixed or moving.     Φ = (b − a) × (p − a)      (000, eq. 42, 43)
/// Coordinates: x y x_a y_a x_b y_b.
struct SliderConstraint {
  static constexpr int kCoordinates = 6;

  template <class T>
  T phi(const std::array<T, 6>& x, double /*t*/) const {
    return (x[4] - x[2]) * (x[1] - x[3]) - (x[5] - x[3]) * (x[0] - x[2]);
  }

  // The fourth entry is x − x_b: (43b) misprints it.
  template <class T>
  std::array<T, 6> gradient(const std::array<T, 6>& x) const {
    return {x[3] - x[5], x[4] - x[2], x[5] - x[1], x[0] - x[4], x[1] - x[3], x[2] - x[0]};
  }

  static constexpr std::array<Entry, 6> kHessian{{{3, 0}, {5, 0}, {2, 1}, {4, 1}, {5, 2}, {4, 3}}};
  std::array<double, 6> hessian(const std::array<double, 6>&) const { return {1, -1, -1, 1, 1, -1}; }
};

}  // namespace kinegraph::natural
