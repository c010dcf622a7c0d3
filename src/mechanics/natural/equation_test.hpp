#pragma once

// What every constraint's test ends with: its hand-written derivatives against dual numbers.

#include <ceres/jet.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "kinegraph/base/taylor.hpp"

namespace kinegraph::natural {

template <std::size_t n>
std::array<double, n> random_array(unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-2.0, 2.0);
  std::array<double, n> x;
  for (double& value : x) value = uniform(generator);
  return x;
}

/// The gradient is that of Φ, and the Hessian that of the gradient: both by ceres::Jet, zeros included.
template <class C>
void expect_exact_derivatives(const C& equation) {
  constexpr int n = C::kCoordinates;
  using Jet = ceres::Jet<double, n>;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto x = random_array<n>(seed);
    std::array<Jet, n> jets;
    for (int k = 0; k < n; ++k) jets[k] = Jet(x[k], k);
    const Jet phi = equation.phi(jets, 0.3);
    const auto gradient = equation.gradient(x);
    const auto gradient_jets = equation.gradient(jets);
    EXPECT_NEAR(phi.a, equation.phi(x, 0.3), 1e-14);
    Eigen::Matrix<double, n, n> hessian = Eigen::Matrix<double, n, n>::Zero();
    const auto values = equation.hessian(x);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const Entry e = C::kHessian[k];
      ASSERT_GE(e.row, e.column) << "only the lower triangle is stored";
      hessian(e.row, e.column) += values[k];
      if (e.row != e.column) hessian(e.column, e.row) += values[k];
    }
    for (int k = 0; k < n; ++k) {
      EXPECT_NEAR(phi.v[k], gradient[k], 1e-13) << "gradient " << k;
      for (int l = 0; l < n; ++l) EXPECT_NEAR(gradient_jets[k].v[l], hessian(k, l), 1e-13) << k << ", " << l;
    }
  }
}

/// A rigid motion of the plane to second order: where a point of a moving frame is, and its two derivatives.
struct Motion {
  Taylor2 x, y, angle;

  std::array<Taylor2, 2> at(Taylor2 u, Taylor2 w) const {
    return {x + cos(angle) * u - sin(angle) * w, y + sin(angle) * u + cos(angle) * w};
  }
};

inline Motion some_motion() { return {{0.3, -1.1, 2.3}, {-0.7, 0.4, 1.9}, {0.6, 1.7, -0.8}}; }

/// Φ, Φ̇ and Φ̈ all vanish along an admissible motion.
inline void expect_zero(const Taylor2& phi) {
  EXPECT_NEAR(phi.x, 0, 1e-14);
  EXPECT_NEAR(phi.d, 0, 1e-13);
  EXPECT_NEAR(phi.dd, 0, 1e-13);
}

}  // namespace kinegraph::natural
