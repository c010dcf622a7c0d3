#pragma once

#include <array>

#include "kinegraph/base/sparse.hpp"

namespace kinegraph::natural {

/// Two points of a rigid body stay L apart.     Φ = |pⱼ − pᵢ|² − L²      (000, eq. 41)
/// Coordinates: xᵢ yᵢ xⱼ yⱼ.
struct ConstantDistance {
  static constexpr int kCoordinates = 4;
  double length = 0;

  template <class T>
  T phi(const std::array<T, 4>& x, double /*t*/) const {
    const T dx = x[2] - x[0], dy = x[3] - x[1];
    return dx * dx + dy * dy - T(length * length);
  }

  template <class T>
  std::array<T, 4> gradient(const std::array<T, 4>& x) const {
    const T dx = 2.0 * (x[2] - x[0]), dy = 2.0 * (x[3] - x[1]);
    return {-dx, -dy, dx, dy};
  }

  static constexpr std::array<Entry, 6> kHessian{{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {2, 0}, {3, 1}}};
  std::array<double, 6> hessian(const std::array<double, 4>&) const { return {2, 2, 2, 2, -2, -2}; }
};

}  // namespace kinegraph::natural
