#include "kinegraph/linear/marginals.hpp"

#include <gtest/gtest.h>

#include <random>

#include "kinegraph/linear/systems_test.hpp"

namespace kinegraph::linear::marginals_test {
namespace {

using Eigen::MatrixXd;
using test::System;

double distance(const MatrixXd& inverse, const std::vector<int>& rows, const MatrixXd& sigma) {
  double worst = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      worst = std::max(worst, std::abs(sigma(i, j) - inverse(rows[i], rows[j])));
    }
  }
  return worst / inverse.cwiseAbs().maxCoeff();
}

void expect_all_blocks(const System& s, const std::vector<std::vector<int>>& blocks) {
  const MatrixXd inverse = s.dense().inverse();
  for (auto method : {OrderingMethod::natural, OrderingMethod::amd, OrderingMethod::metis}) {
    auto plan = Plan::make(s.pattern, s.values, {.ordering = method, .user_order = {}, .rows = {}});
    ASSERT_TRUE(plan);
    Elimination e(*plan);
    e.factor(s.values);
    Marginals marginals(e);
    for (const auto& rows : blocks) {
      const auto sigma = marginals.covariance(rows);
      ASSERT_TRUE(sigma) << sigma.failure().to_string();
      EXPECT_LT(distance(inverse, rows, *sigma), 1e-11);
    }
  }
}

TEST(Marginals, AreBlocksOfTheInverse) {
  std::mt19937 rng(1);
  // single unknowns, near ones, and two far apart
  expect_all_blocks(test::random_definite(50, rng), {{0}, {17}, {49}, {3, 4, 5}, {0, 49}});
}

TEST(Marginals, OfConstrainedVariablesAreTheConstrainedCovariance) {
  std::mt19937 rng(2);
  const System s = test::time_chain(20, rng);
  expect_all_blocks(s, {{0, 1, 2, 3}, {70, 71, 72, 73}, {133, 134}, {0, 133}});

  // The same from the null space N of J: Σ = N (Nᵀ H N)⁻¹ Nᵀ.
  std::vector<int> variables, hard;
  for (int i = 0; i < s.pattern.size(); ++i) (s.pattern.kind[i] == RowKind::hard ? hard : variables).push_back(i);
  const MatrixXd k = s.dense(), h = k(variables, variables), j = k(hard, variables);
  const MatrixXd n = j.fullPivLu().kernel();
  const MatrixXd sigma = n * (n.transpose() * h * n).ldlt().solve(n.transpose());
  auto plan = Plan::make(s.pattern, s.values);
  Elimination e(*plan);
  e.factor(s.values);
  const auto found = Marginals(e).covariance(std::vector{0, 1, 2, 3});
  ASSERT_TRUE(found);
  EXPECT_LT((*found - sigma.topLeftCorner(4, 4)).norm(), 1e-10 * sigma.norm());
}

TEST(Marginals, OfAnUndeterminedUnknownAreRefused) {
  MatrixXd k = MatrixXd::Zero(3, 3);
  k << 1, -1, 0, -1, 1, 0, 0, 0, 1;  // x₀ and x₁ known only to each other
  const System s = System::from_dense(k, std::vector<RowKind>(3, RowKind::variable));
  auto plan = Plan::make(s.pattern, s.values);
  Elimination e(*plan);
  e.factor(s.values);
  const auto sigma = Marginals(e).covariance(std::vector{0});
  ASSERT_FALSE(sigma);
  EXPECT_EQ(sigma.failure().to_string(), "error: covariance: 1 unknowns are not determined");
}

}  // namespace
}  // namespace kinegraph::linear::marginals_test
