#pragma once

#include <array>

#include "kinegraph/base/sparse.hpp"

namespace kinegraph::natural {

/// A further point k of a rigid body is where its first two put it: linear, and never degenerate.
///
///     pₖ = p₀ + α d + β d⊥,   d = p₁ − p₀,   d⊥ = (−d_y, d_x)      (García de Jalón and Bayo, section 2.1)
///
/// Two rows of one form, with (u, w) = (x, y), b = β for the first and (u, w) = (y, x), b = −β for the second:
///
///     Φ = uₖ − u₀ − α (u₁ − u₀) + b (w₁ − w₀)
///
/// Coordinates: uₖ u₀ u₁ w₀ w₁.
struct RigidPoint {
  static constexpr int kCoordinates = 5;
  double along = 0;   ///< α
  double across = 0;  ///< b

  template <class T>
  T phi(const std::array<T, 5>& x, double /*t*/) const {
    return x[0] - x[1] - along * (x[2] - x[1]) + across * (x[4] - x[3]);
  }

  template <class T>
  std::array<T, 5> gradient(const std::array<T, 5>&) const {
    return {T(1.0), T(along - 1), T(-along), T(-across), T(across)};
  }

  static constexpr std::array<Entry, 0> kHessian{};
  std::array<double, 0> hessian(const std::array<double, 5>&) const { return {}; }
};

}  // namespace kinegraph::natural
