#include "kinegraph/graph/difference_curvature.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/graph/function_factor.hpp"

namespace kinegraph::difference_curvature_test {
namespace {

/// r = (x₀² y₀ + x₁ sin y₁, x₀ y₂): two parts that share nothing but a row.
FunctionFactor two_parts() {
  return FunctionFactor("parts", 2, {2, 3}, [](Slots s, double* r, double* j) {
    const double *x = s[0], *y = s[1];
    r[0] = x[0] * x[0] * y[0] + x[1] * std::sin(y[1]);
    r[1] = x[0] * y[2];
    if (!j) return;
    const double all[] = {2 * x[0] * y[0], y[2], std::sin(y[1]), 0, x[0] * x[0], 0, x[1] * std::cos(y[1]), 0, 0, x[0]};
    std::copy(std::begin(all), std::end(all), j);
  });
}

TEST(DifferenceCurvature, FindsTheHessianWithFewEvaluations) {
  const FunctionFactor factor = two_parts();
  const double x[] = {0.7, -1.2}, y[] = {0.4, 0.9, 2};
  const std::vector<const double*> slots = {x, y};
  const std::vector<Manifold> manifolds = {Manifold::real(2), Manifold::real(3)};
  const DifferenceCurvature curvature(factor, slots, manifolds);
  EXPECT_EQ(curvature.directions(), 5);
  EXPECT_EQ(curvature.pairs().size(), 5u);  // x₀x₀ x₀y₀ x₀y₂ x₁y₁ y₁y₁
  EXPECT_EQ(curvature.evaluations(), 1);    // x₀ and y₁ together: each reads what the other does not move
  std::vector<double> residual(2), jacobian(factor.pattern().size()), hessian(25, 0.0);
  factor.evaluate(slots, residual.data(), jacobian.data());
  const double w[] = {2, -3};  // forward differences: off by about 1e-6 of a third derivative
  DifferenceCurvature::Work work;
  curvature.add(factor, slots, jacobian.data(), w, hessian.data(), work);
  const auto at = [&](int row, int column) { return hessian[column * 5 + row]; };
  EXPECT_NEAR(at(0, 0), w[0] * 2 * y[0], 5e-6);
  EXPECT_NEAR(at(2, 0), w[0] * 2 * x[0], 5e-6);
  EXPECT_NEAR(at(4, 0), w[1], 5e-6);
  EXPECT_NEAR(at(3, 1), w[0] * std::cos(y[1]), 5e-6);
  EXPECT_NEAR(at(3, 3), -w[0] * x[1] * std::sin(y[1]), 5e-6);
  EXPECT_NEAR(at(1, 0), 0, 1e-9);
}

}  // namespace
}  // namespace kinegraph::difference_curvature_test
