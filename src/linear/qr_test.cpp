#include "kinegraph/linear/qr.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <numeric>
#include <random>

#include "kinegraph/linear/allocations_test.hpp"
#include "kinegraph/linear/ordering.hpp"
#include "kinegraph/linear/systems_test.hpp"

namespace kinegraph::linear::qr_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// minₑ ½‖A x − b‖² as a function of the kept unknowns, by brute force.
double least_cost(const MatrixXd& a, const VectorXd& b, const std::vector<int>& eliminate, const std::vector<int>& kept,
                  const VectorXd& x_kept) {
  VectorXd rhs = b;
  for (std::size_t j = 0; j < kept.size(); ++j) rhs -= a.col(kept[j]) * x_kept[j];
  const MatrixXd e = a(Eigen::all, eliminate);
  const VectorXd x = e.completeOrthogonalDecomposition().solve(rhs);
  return 0.5 * (e * x - rhs).squaredNorm();
}

void expect_same_cost(const MatrixXd& a, const VectorXd& b, const std::vector<int>& eliminate, const SquareRoot& prior,
                      std::mt19937& rng) {
  const auto n = static_cast<int>(prior.columns.size());
  ASSERT_EQ(prior.R.cols(), n);
  EXPECT_LE(prior.R.rows(), n);
  const auto cost = [&](const VectorXd& x) { return 0.5 * (prior.R * x - prior.d).squaredNorm(); };
  const VectorXd origin = VectorXd::Zero(n);
  for (int trial = 0; trial < 3; ++trial) {  // equal up to a constant
    const VectorXd x = test::random_vector(n, rng);
    const double full =
        least_cost(a, b, eliminate, prior.columns, x) - least_cost(a, b, eliminate, prior.columns, origin);
    EXPECT_NEAR(cost(x) - cost(origin), full, 1e-10 * (1 + std::abs(full)));
  }
}

TEST(Qr, MarginalisedCostIsTheMinimumOverTheEliminated) {
  std::mt19937 rng(1);
  for (int rows : {6, 12, 25}) {
    const MatrixXd a = test::random_sparse(rows, 10, 0.5, rng);
    const VectorXd b = test::random_vector(rows, rng);
    const std::vector<int> eliminate{7, 0, 3, 4};
    expect_same_cost(a, b, eliminate, marginalise(a, b, eliminate), rng);
    expect_same_cost(a, b, eliminate, marginalise(SparseRows::from_dense(a), b, eliminate), rng);
  }
}

TEST(Qr, UndeterminedUnknownsTakeNothingWithThem) {
  // x₀ and x₁ occur only as their sum; eliminating both must leave the prior on x₂ as it is.
  MatrixXd a(2, 3);
  a << 1, 1, 1,  //
      0, 0, 2;
  const VectorXd b = VectorXd::Ones(2);
  for (const SquareRoot& p :
       {marginalise(a, b, std::vector{0, 1}), marginalise(SparseRows::from_dense(a), b, std::vector{0, 1})}) {
    EXPECT_EQ(p.columns, std::vector{2});
    ASSERT_EQ(p.R.rows(), 1);
    EXPECT_NEAR(std::abs(p.R(0, 0)), 2, 1e-14);
    EXPECT_NEAR(p.d[0] / p.R(0, 0), 0.5, 1e-14);
  }
}

TEST(Qr, KeepsWhatNormalEquationsLose) {
  // Two readings of x₀ − x₁ with σ = 1e-9 and a prior on x₀ with σ = 1: squared, the prior would vanish beside 1e18.
  MatrixXd a(2, 2);
  a << 1e9, -1e9,  //
      1, 0;
  const SquareRoot prior = marginalise(a, VectorXd::Zero(2), std::vector{0});
  ASSERT_EQ(prior.R.rows(), 1);
  EXPECT_NEAR(std::abs(prior.R(0, 0)), 1, 1e-12);
}

TEST(Qr, WeakKnowledgeBesideStrongSurvives) {
  const MatrixXd a = Eigen::Vector3d(1, 1e9, 1e-6).asDiagonal();
  EXPECT_EQ(marginalise(a, VectorXd::Zero(3), std::vector{0}).R.rows(), 2);
}

TEST(Qr, DenseEliminationAllocatesNothing) {
  if (!test::allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  std::mt19937 rng(2);
  MatrixXd a = test::random_sparse(20, 12, 1, rng);
  const long before = test::allocations();
  const int rank = triangularise(a, {0, 0, 5}, true);
  EXPECT_EQ(test::allocations(), before);
  EXPECT_EQ(rank, 5);
}

TEST(Qr, DenseRankIsThatOfTheScaledRows) {
  std::mt19937 rng(3);
  MatrixXd a = test::random_sparse(8, 5, 1, rng) * test::random_sparse(5, 10, 1, rng);
  a.row(3) *= 1e-9;  // a row in small units counts like any other
  EXPECT_EQ(dense_rank(a), 5);
  a.row(6) = test::random_vector(10, rng);
  EXPECT_EQ(dense_rank(a), 6);
}

TEST(RowMergingQr, SolvesLeastSquaresInAnyOrder) {
  std::mt19937 rng(4);
  const MatrixXd a = test::random_sparse(60, 20, 0.2, rng);
  const VectorXd b = test::random_vector(60, rng);
  const SparseRows rows = SparseRows::from_dense(a);
  const VectorXd best = a.householderQr().solve(b);
  for (int trial = 0; trial < 3; ++trial) {
    std::vector<int> order = natural_order(20);
    std::shuffle(order.begin(), order.end(), rng);
    RowMergingQr qr(order);
    for (int i = 0; i < rows.rows(); ++i) qr.add_row(rows.columns_of(i), rows.values_of(i), b[i]);
    EXPECT_EQ(qr.rank(), 20);
    EXPECT_LT((qr.solve() - best).norm(), 1e-12 * best.norm());
    EXPECT_NEAR(qr.residual_norm(), (a * best - b).norm(), 1e-12);
  }
}

TEST(RowMergingQr, NamesColumnsWithoutAPivot) {
  RowMergingQr qr({0, 1, 2});
  qr.add_row(std::array{0, 1}, std::array{1.0, 1.0}, 1);
  qr.add_row(std::array{1, 0}, std::array{2.0, 2.0}, 2);
  qr.add_row(std::array{2}, std::array{3.0}, 3);
  EXPECT_EQ(qr.rank(), 2);
  EXPECT_EQ(qr.undetermined(), std::vector{1});
  EXPECT_NEAR(qr.residual_norm(), 0, 1e-15);
}

}  // namespace
}  // namespace kinegraph::linear::qr_test
