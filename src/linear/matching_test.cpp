#include "kinegraph/linear/matching.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>
#include <random>

namespace kinegraph::linear::matching_test {
namespace {

/// Largest product over all ways to give each row a column of its own; 0 if there is none.
double best_product(const Eigen::MatrixXd& a) {
  std::vector<int> columns(a.cols());
  std::iota(columns.begin(), columns.end(), 0);
  double best = 0;
  do {
    double product = 1;
    for (int i = 0; i < a.rows(); ++i) product *= std::abs(a(i, columns[i]));
    best = std::max(best, product);
  } while (std::next_permutation(columns.begin(), columns.end()));
  return best;
}

Eigen::MatrixXd random_sparse(int rows, int columns, double density, std::mt19937& rng) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] {
    return uniform(rng) < density ? std::exp(3 * normal(rng)) * (uniform(rng) < 0.5 ? -1 : 1) : 0.0;
  });
}

TEST(Matching, HasTheLargestProductOfAll) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 100; ++trial) {
    const int rows = 3 + trial % 4, columns = rows + trial % 3;
    const Eigen::MatrixXd a = random_sparse(rows, columns, 0.6, rng);
    const Matching m = maximum_product_matching(SparseRows::from_dense(a));
    const double best = best_product(a);
    ASSERT_EQ(m.size == rows, best > 0) << a;
    if (m.size < rows) continue;
    double product = 1;
    for (int i = 0; i < rows; ++i) product *= std::abs(a(i, m.column_of[i]));
    EXPECT_NEAR(product / best, 1, 1e-12) << a;
  }
}

TEST(Matching, ScalesMatchedEntriesToOneAndTheRestBelow) {
  std::mt19937 rng(2);
  const Eigen::MatrixXd a = random_sparse(40, 50, 0.2, rng);
  const Matching m = maximum_product_matching(SparseRows::from_dense(a));
  ASSERT_EQ(m.size, 40);
  for (int i = 0; i < a.rows(); ++i) {
    for (int j = 0; j < a.cols(); ++j) {
      const double scaled = m.row_scale[i] * std::abs(a(i, j)) * m.column_scale[j];
      EXPECT_LE(scaled, 1 + 1e-12);
      if (m.column_of[i] == j) {
        EXPECT_NEAR(scaled, 1, 1e-12);
      }
    }
  }
}

TEST(Matching, LeavesOutRowsThatHaveNoColumn) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(3, 3);
  a.col(1).setConstant(2);
  a(1, 0) = 1;
  const Matching m = maximum_product_matching(SparseRows::from_dense(a));
  EXPECT_EQ(m.size, 2);
  EXPECT_EQ(m.column_of[1], 0);
}

SymmetricPattern dense_pattern(const Eigen::MatrixXd& k, std::vector<double>& values) {
  SymmetricPattern p;
  p.kind.assign(k.rows(), RowKind::variable);
  for (int j = 0; j < k.cols(); ++j) {
    for (int i = j; i < k.rows(); ++i) {
      if (k(i, j) == 0) continue;
      p.row.push_back(i);
      values.push_back(k(i, j));
    }
    p.start.push_back(p.entries());
  }
  return p;
}

TEST(PairPivots, DefiniteMatricesNeedNone) {
  std::mt19937 rng(3);
  Eigen::MatrixXd a = random_sparse(30, 30, 0.3, rng);
  a.diagonal().array() += 1;
  std::vector<double> values;
  const SymmetricPattern p = dense_pattern(a.transpose() * a, values);
  EXPECT_EQ(pair_pivots(p, values).pairs(), 0);
}

TEST(PairPivots, AnEqualityTakesTheVariableWithoutCurvature) {
  //       x    y    λ
  Eigen::Matrix3d k;
  k << 1e6, 0, 1,  //
      0, 0, 1,     //
      1, 1, 0;
  std::vector<double> values;
  const SymmetricPattern p = dense_pattern(k, values);
  EXPECT_EQ(pair_pivots(p, values).partner, (std::vector{0, 2, 1}));
}

TEST(PairPivots, CutsLongCyclesToPairs) {
  // The matching of this K is a cycle of length 5 or two pairs and a single; either way at most one row stays single.
  const int n = 5;
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) k(i, (i + 1) % n) = k((i + 1) % n, i) = 1 + 0.1 * i;
  k(2, 2) = 0.5;
  std::vector<double> values;
  const SymmetricPattern p = dense_pattern(k, values);
  const Pairing pairing = pair_pivots(p, values);
  EXPECT_EQ(pairing.pairs(), 2);
  EXPECT_EQ(pairing.partner[2], 2);
}

}  // namespace
}  // namespace kinegraph::linear::matching_test
