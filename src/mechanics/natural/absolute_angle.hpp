#pragma once

#include <array>
#include <cmath>

#include "kinegraph/base/sparse.hpp"
#include "kinegraph/base/taylor.hpp"

namespace kinegraph::natural {

/// θ is the angle of the line i → j against the x axis.     Φ = cos θ (yⱼ − yᵢ) − sin θ (xⱼ − xᵢ)
/// One form for every θ, where (000, eq. 44, 45) switches between two; θ + π is a root too, which a start near the
/// right one never reaches. Coordinates: xᵢ yᵢ xⱼ yⱼ θ.
struct AbsoluteAngle {
  static constexpr int kCoordinates = 5;

  template <class T>
  T phi(const std::array<T, 5>& x, double /*t*/) const {
    using std::cos, std::sin;
    return cos(x[4]) * (x[3] - x[1]) - sin(x[4]) * (x[2] - x[0]);
  }

  template <class T>
  std::array<T, 5> gradient(const std::array<T, 5>& x) const {
    using std::cos, std::sin;
    const T c = cos(x[4]), s = sin(x[4]);
    return {s, -c, -s, c, -(s * (x[3] - x[1]) + c * (x[2] - x[0]))};
  }

  static constexpr std::array<Entry, 5> kHessian{{{4, 0}, {4, 1}, {4, 2}, {4, 3}, {4, 4}}};
  std::array<double, 5> hessian(const std::array<double, 5>& x) const {
    const double c = std::cos(x[4]), s = std::sin(x[4]);
    return {c, s, -c, -s, s * (x[2] - x[0]) - c * (x[3] - x[1])};
  }
};

}  // namespace kinegraph::natural
