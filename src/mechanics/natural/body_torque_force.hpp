#pragma once

#include <array>

#include "kinegraph/base/sparse.hpp"
#include "kinegraph/expr/law.hpp"

namespace kinegraph::natural {

/// A torque on a body as forces on its first two points, by virtual work τ δθ, δθ = d⊥ · δd / L².
///
///     d = p₁ − p₀,   Q₁ = (τ/L²) d⊥,   Q₀ = −Q₁,   d⊥ = (−d_y, d_x)
///
/// |d| = L holds wherever Φ = 0, and makes Q linear in q. Coordinates: x₀ y₀ x₁ y₁.
struct BodyTorqueForce {
  static constexpr int kCoordinates = 4;
  using Local = std::array<double, 4>;
  Law torque;
  double length = 1;

  static constexpr std::array<Entry, 8> kPattern{{{0, 1}, {0, 3}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 0}, {3, 2}}};

  template <class T>
  std::array<T, 4> force(const std::array<T, 4>& x, const Local&, double t) const {
    return turn(torque(t) / (length * length), x);
  }
  /// With k = τ/L².
  template <class T>
  static std::array<T, 4> turn(double k, const std::array<T, 4>& x) {
    const T fx = -k * (x[3] - x[1]), fy = k * (x[2] - x[0]);
    return {-fx, -fy, fx, fy};
  }
  std::array<double, 8> by_position(const Local&, const Local&, double t) const {
    const double k = torque(t) / (length * length);
    return {-k, k, k, -k, k, -k, -k, k};
  }
  std::array<double, 8> by_velocity(const Local&, const Local&, double /*t*/) const { return {}; }
  double potential(const Local&) const { return 0; }  // the angle is known up to turns only
};

}  // namespace kinegraph::natural
