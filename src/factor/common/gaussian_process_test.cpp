#include "kinegraph/factor/common/gaussian_process.hpp"

#include <Eigen/LU>
#include <cmath>

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::gaussian_process_test {
namespace {

TEST(GaussianProcess, JacobiansMatchDifferences) { expect_exact_jacobians(GaussianProcess(3, 0.2)); }

/// Of some elements: the rows of these, and nothing of the others.
TEST(GaussianProcess, MayBeOfSomeElements) {
  const GaussianProcess some(3, {0, 2}, 0.2, {"a", "b", "c"});
  expect_exact_jacobians(some);
  EXPECT_EQ(some.row_name(1), "smoothness of c");
  const std::vector<double> zero(3, 0.0);
  EXPECT_EQ(residual(some, {zero, zero, zero, {1, 5, 2}, {0, 5, 3}, {0, 5, 4}}),
            (std::vector<double>{1, 2, 0, 3, 0, 4}));
}

TEST(GaussianProcess, ConstantAccelerationCostsNothing) {
  const double h = 0.3, a = 2, v = -1, x = 0.5;
  const auto e = residual(GaussianProcess(1, h), {{x}, {v}, {a}, {x + h * v + 0.5 * h * h * a}, {v + h * a}, {a}});
  for (const double r : e) EXPECT_NEAR(r, 0, 1e-15);
}

/// Σ = ∫ Φ(h − s) L s² Lᵀ Φ(h − s)ᵀ ds, the jerk's noise carried to the end of the step, by Simpson's rule.
TEST(GaussianProcess, CovarianceIsThatOfWhiteJerkIntegrated) {
  const double h = 0.7, s = 1.3;
  const int pieces = 2000;
  Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
  for (int i = 0; i <= pieces; ++i) {
    const double t = h - h * i / pieces;
    const Eigen::Vector3d carried(t * t / 2, t, 1);
    const double weight = i == 0 || i == pieces ? 1 : i % 2 ? 4 : 2;
    sum += weight * h / pieces / 3 * s * s * carried * carried.transpose();
  }
  EXPECT_LT((GaussianProcess::covariance(h, s) - sum).norm(), 1e-12 * sum.norm());

  // whitened: Wᵀ W = Σ⁻¹, element by element
  const Noise noise = GaussianProcess::noise(2, h, s);
  std::vector<double> e(6, 0.0);
  e[1] = 0.2, e[3] = -0.1, e[5] = 0.4;  // x, v, a of the second element
  const Eigen::Vector3d own(e[1], e[3], e[5]);
  noise.whiten(e.data(), 6);
  double square = 0;
  for (const double r : e) square += r * r;
  EXPECT_NEAR(square, own.dot(sum.inverse() * own), 1e-8 * square);
}

}  // namespace
}  // namespace kinegraph::gaussian_process_test
