#pragma once

#include <array>

#include "kinegraph/base/sparse.hpp"

namespace kinegraph::natural {

/// A spring and damper on one coordinate.     Q = −k (q − q₀) − c q̇,   V = ½ k (q − q₀)²
struct CoordinateSpringForce {
  static constexpr int kCoordinates = 1;
  using Local = std::array<double, 1>;
  double stiffness = 0, rest = 0, damping = 0;

  static constexpr std::array<Entry, 1> kPattern{{{0, 0}}};
  template <class T = double>
  std::array<T, 1> force(const std::array<T, 1>& x, const std::array<T, 1>& v, double /*t*/) const {
    return {-stiffness * (x[0] - T(rest)) - damping * v[0]};
  }
  Local by_position(const Local&, const Local&, double /*t*/) const { return {-stiffness}; }
  Local by_velocity(const Local&, const Local&, double /*t*/) const { return {-damping}; }
  double potential(const Local& x) const { return 0.5 * stiffness * (x[0] - rest) * (x[0] - rest); }
};

}  // namespace kinegraph::natural
