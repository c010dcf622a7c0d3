#include "kinegraph/linear/time_chain.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/QR>
#include <random>

#include "kinegraph/linear/allocations_test.hpp"

namespace kinegraph::linear::time_chain_test {
namespace {

/// The same rows in a chain and as one dense matrix.
struct Both {
  int n, knots;
  TimeChain chain;
  Eigen::MatrixXd A;
  Eigen::VectorXd b;
  std::mt19937_64 engine{7};

  Both(int unknowns, int count, double stiffness = 1) : n(unknowns), knots(count) {
    chain.reset(n, knots);
    for (int i = 0; i < n; ++i) {
      const Eigen::VectorXd row = random(n);
      const double e = random(1)[0];
      chain.add_prior(row.data(), e);
      dense(0, row, e);
    }
    fill(stiffness);
  }
  void fill(double stiffness) {
    for (int k = 0; k < knots; ++k) {
      for (int i = 0; i < k % 3; ++i) {
        const Eigen::VectorXd row = random(n);
        const double e = random(1)[0];
        chain.add(k, row.data(), e);
        dense(k, row, e);
      }
      if (k + 1 == knots) break;
      double* link = chain.link(k);
      for (int i = 0; i < n; ++i) {
        Eigen::VectorXd row = (i == 0 ? stiffness : 1) * random(2 * n + 1);
        std::copy_n(row.data(), 2 * n + 1, link + i * (2 * n + 1));
        dense(k, row.head(2 * n), row[2 * n]);
      }
    }
  }
  Eigen::VectorXd random(int size) {
    std::normal_distribution<double> normal;
    return Eigen::VectorXd::NullaryExpr(size, [&] { return normal(engine); });
  }
  void dense(int k, const Eigen::VectorXd& row, double e) {
    A.conservativeResize(A.rows() + 1, n * knots);
    b.conservativeResize(A.rows());
    A.row(A.rows() - 1).setZero();
    A.row(A.rows() - 1).segment(k * n, row.size()) = row.transpose();
    b[A.rows() - 1] = e;
  }
  Eigen::VectorXd solution() const {
    Eigen::VectorXd x(n * knots);
    for (int k = 0; k < knots; ++k) x.segment(k * n, n) = Eigen::Map<const Eigen::VectorXd>(chain.solution(k), n);
    return x;
  }
};

TEST(TimeChain, EqualsDenseLeastSquares) {
  for (const int n : {1, 2, 3, 5}) {
    for (const int knots : {1, 2, 7}) {
      Both both(n, knots);
      const TimeChainReport report = both.chain.solve();
      const Eigen::VectorXd x = both.A.householderQr().solve(both.b);
      EXPECT_TRUE(report.finite);
      EXPECT_EQ(report.undetermined, 0);
      EXPECT_LT((both.solution() - x).norm(), 1e-12 * (1 + x.norm())) << n << " " << knots;
      EXPECT_NEAR(report.rest, (both.A * x - both.b).squaredNorm(), 1e-11);
      EXPECT_NEAR(report.step, both.b.squaredNorm() - report.rest, 1e-11 * both.b.squaredNorm());
      const Eigen::MatrixXd information = both.A.transpose() * both.A;
      EXPECT_NEAR(both.chain.log_determinant(), 0.5 * std::log(information.determinant()), 1e-10);
      const Eigen::MatrixXd P = information.inverse();
      ASSERT_TRUE(both.chain.covariances([&](int k, const auto& block, const auto& cross) {
        EXPECT_LT((block - P.block(k * n, k * n, n, n)).norm(), 1e-10 * P.norm()) << k;
        if (k + 1 == knots) return;
        EXPECT_LT((cross - P.block(k * n, (k + 1) * n, n, n)).norm(), 1e-10 * P.norm()) << k;
      }));
    }
  }
}

TEST(TimeChain, DampingScalesWithTheColumns) {
  Both both(2, 5);
  both.chain.solve(0.3);
  Eigen::MatrixXd information = both.A.transpose() * both.A;
  information.diagonal() *= 1.3;
  const Eigen::VectorXd x = information.ldlt().solve(both.A.transpose() * both.b);
  EXPECT_LT((both.solution() - x).norm(), 1e-12 * x.norm());
}

TEST(TimeChain, StiffLinksKeepWhatLightRowsSay) {
  Both both(2, 6, 1e9);
  both.chain.solve();
  const Eigen::VectorXd x = both.A.fullPivHouseholderQr().solve(both.b);
  // The gradient of the light rows, seen along what the stiff rows leave free.
  EXPECT_LT((both.solution() - x).norm(), 1e-6 * x.norm());
  const Eigen::VectorXd g = both.A.transpose() * (both.A * both.solution() - both.b);
  EXPECT_LT(g.norm(), 1e-6 * both.A.norm());
}

TEST(TimeChain, OnlyWhatChangedIsEliminatedAgain) {
  Both both(3, 8);
  both.chain.solve();
  const Eigen::VectorXd row = both.random(3);
  both.chain.add(5, row.data(), 2);
  both.dense(5, row, 2);
  both.chain.solve();
  const Eigen::VectorXd x = both.A.householderQr().solve(both.b);
  EXPECT_LT((both.solution() - x).norm(), 1e-12 * x.norm());
}

TEST(TimeChain, MarginalisingTheOldestChangesNothingForTheRest) {
  Both both(2, 7);
  both.chain.solve();
  const Eigen::VectorXd before = both.solution().tail(5 * 2);
  both.chain.marginalise_first();
  both.chain.marginalise_first();
  both.knots = 5;
  both.chain.solve();
  EXPECT_EQ(both.chain.knots(), 5);
  EXPECT_LT((both.solution() - before).norm(), 1e-12 * before.norm());
}

TEST(TimeChain, AKnotIsInsertedAndTheNewestForgotten) {
  Both both(2, 4);
  both.chain.solve();
  const Eigen::VectorXd before = both.solution();
  both.chain.push_back();
  double* link = both.chain.link(3);
  const Eigen::VectorXd numbers = both.random(10);
  std::copy_n(numbers.data(), 10, link);
  both.chain.solve();
  both.chain.pop_back();
  both.chain.solve();
  EXPECT_LT((both.solution() - before).norm(), 1e-13 * before.norm());

  // A knot between 1 and 2, equal to knot 1 but for stiff rounding: the others stay where they are.
  std::vector<double> old(both.chain.link(1), both.chain.link(1) + 10);
  both.chain.insert(2);
  double* first = both.chain.link(1);
  const double w = 1e7;
  const double equal[10] = {-w, 0, w, 0, 0, 0, -w, 0, w, 0};
  std::copy_n(equal, 10, first);
  std::copy_n(old.data(), 10, both.chain.link(2));
  both.chain.solve();
  EXPECT_NEAR(both.chain.solution(4)[0], before[6], 1e-6);
  EXPECT_NEAR(both.chain.solution(0)[1], before[1], 1e-6);
}

TEST(TimeChain, NamesADirectionThatNoRowSees) {
  // Steps of constant velocity, of which only the velocity is read: the position is not seen.
  const int knots = 2000;
  TimeChain chain;
  chain.reset(2, knots);
  for (int k = 0; k < knots; ++k) {
    const double row[2] = {0, 20};
    chain.add(k, row, 1);
    if (k + 1 == knots) break;
    const double h = 0.01, p = 3e4, v = 30;
    const double rows[10] = {-p, -p * h, p, 0, 0, 0, -v, 0, v, 0};
    std::copy_n(rows, 10, chain.link(k));
  }
  const TimeChainReport report = chain.solve();
  EXPECT_TRUE(report.finite);
  EXPECT_EQ(report.undetermined, 1);
  EXPECT_EQ(report.knot, knots - 1);
  EXPECT_NEAR(chain.undetermined_direction()[0], 1, 1e-12);
  EXPECT_NEAR(chain.undetermined_direction()[1], 0, 1e-9);
  Eigen::MatrixXd P;
  EXPECT_FALSE(chain.last_covariance(P));
}

TEST(TimeChain, SaysWhenSomethingIsNotFinite) {
  Both both(2, 3);
  const double row[2] = {1, std::numeric_limits<double>::quiet_NaN()};
  both.chain.add(1, row, 1);
  EXPECT_FALSE(both.chain.solve().finite);
}

TEST(TimeChain, AllocatesNothingAfterTheFirstSolution) {
  if (!test::allocations_are_counted()) GTEST_SKIP();
  Both both(4, 6);
  both.chain.reset(4, 1, 6);
  Eigen::MatrixXd P(4, 4);
  const Eigen::VectorXd numbers = both.random(36);
  for (int i = 0; i < 4; ++i) both.chain.add_prior(numbers.data() + 4 * i, 1);
  both.chain.solve();
  const long before = test::allocations();
  for (int k = 0; k < 100; ++k) {
    if (both.chain.knots() == 6) both.chain.marginalise_first();
    both.chain.push_back();
    std::copy_n(numbers.data(), 36, both.chain.link(both.chain.knots() - 2));
    both.chain.add(both.chain.knots() - 1, numbers.data() + 5, 1);
    both.chain.solve();
    both.chain.covariances([&P](int, const auto& block, const auto&) { P = block; });
  }
  EXPECT_EQ(test::allocations() - before, 0);
}

}  // namespace
}  // namespace kinegraph::linear::time_chain_test
