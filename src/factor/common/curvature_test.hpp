#pragma once

// For the tests of factors that know their second derivatives: compares these with differences of the Jacobian.

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <vector>

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph {

/// Σ wᵢ ∂²rᵢ by central differences of the Jacobian, seen as the mean of both orders of two displacements.
inline Eigen::MatrixXd differenced_curvature(const Factor& factor, const SlotValues& x,
                                             const std::vector<Manifold>& manifolds, const Eigen::VectorXd& weight) {
  std::vector<int> first;
  int n = 0;
  for (const Manifold& manifold : manifolds) first.push_back(n), n += manifold.tangent();
  std::vector<double> residual(factor.rows()), jacobian(factor.pattern().size());
  const auto gradient = [&](std::size_t slot, int tangent, double by) {
    SlotValues moved = x;
    std::vector<double> delta(manifolds[slot].tangent(), 0.0);
    delta[tangent] = by;
    manifolds[slot].retract(x[slot].data(), delta.data(), moved[slot].data());
    std::vector<const double*> at;
    for (const auto& numbers : moved) at.push_back(numbers.data());
    factor.evaluate(at, residual.data(), jacobian.data());
    Eigen::VectorXd g = Eigen::VectorXd::Zero(n);
    for (std::size_t e = 0; e < jacobian.size(); ++e) {
      const JacobianEntry& entry = factor.pattern()[e];
      g[first[entry.slot] + entry.column] += weight[entry.row] * jacobian[e];
    }
    return g;
  };
  Eigen::MatrixXd all(n, n);
  const double h = 1e-3;  // fourth order
  for (std::size_t s = 0; s < manifolds.size(); ++s) {
    for (int t = 0; t < manifolds[s].tangent(); ++t) {
      all.col(first[s] + t) =
          (8 * (gradient(s, t, h) - gradient(s, t, -h)) - (gradient(s, t, 2 * h) - gradient(s, t, -2 * h))) / (12 * h);
    }
  }
  return 0.5 * (all + all.transpose());
}

inline void expect_exact_curvature(const Factor& factor, const SlotValues& x, const std::vector<Manifold>& manifolds) {
  Eigen::VectorXd weight(factor.rows());
  for (int r = 0; r < factor.rows(); ++r) weight[r] = 0.7 - 0.4 * r;
  const Eigen::MatrixXd expected = differenced_curvature(factor, x, manifolds, weight);
  Eigen::MatrixXd found = Eigen::MatrixXd::Zero(expected.rows(), expected.cols());
  std::vector<const double*> slots;
  for (const auto& slot : x) slots.push_back(slot.data());
  ASSERT_TRUE(factor.add_curvature(slots, weight.data(), found.data()));
  found.triangularView<Eigen::StrictlyUpper>() = found.transpose();
  EXPECT_GT(expected.lpNorm<Eigen::Infinity>(), 1e-3) << factor.name();
  EXPECT_LT((found - expected).lpNorm<Eigen::Infinity>(), 1e-7 * expected.lpNorm<Eigen::Infinity>()) << factor.name();
}

}  // namespace kinegraph
