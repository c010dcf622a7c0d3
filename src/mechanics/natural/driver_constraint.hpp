#pragma once

#include <array>

#include "kinegraph/base/sparse.hpp"
#include "kinegraph/expr/law.hpp"

namespace kinegraph::natural {

/// A law of time seen by a scalar: its value, or its value with rates.
template <class T>
T law_at(const Law& law, double t) {
  return T(law(t));
}
template <>
inline Taylor1 law_at(const Law& law, double t) {
  const Taylor2 f = law.taylor(t);
  return {f.x, f.d};
}
template <>
inline Taylor2 law_at(const Law& law, double t) {
  return law.taylor(t);
}

/// A coordinate follows a law of time.     Φ = q − f(t),   Φ_t = −ḟ,   Φ̇_t = −f̈      (000, eq. 1 to 3)
struct DriverConstraint {
  static constexpr int kCoordinates = 1;
  Law law;

  template <class T>
  T phi(const std::array<T, 1>& x, double t) const {
    return x[0] - law_at<T>(law, t);
  }

  template <class T>
  std::array<T, 1> gradient(const std::array<T, 1>&) const {
    return {T(1.0)};
  }

  static constexpr std::array<Entry, 0> kHessian{};
  std::array<double, 0> hessian(const std::array<double, 1>&) const { return {}; }
};

}  // namespace kinegraph::natural
