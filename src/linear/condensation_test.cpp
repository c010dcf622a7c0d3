#include "kinegraph/linear/condensation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace kinegraph::linear::condensation_test {
namespace {

struct Sparse {
  int rows, columns;
  std::vector<Entry> pattern;
  std::vector<double> values;

  Eigen::MatrixXd dense() const {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(rows, columns);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i].column >= 0) a(pattern[i].row, pattern[i].column) += values[i];
    }
    return a;
  }
};

Sparse random_sparse(int rows, int columns, double density, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Sparse s{rows, columns, {}, {}};
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (c == r || uniform(rng) < 2 * density - 1) {
        s.pattern.push_back({r, c});
        s.values.push_back(uniform(rng));
      }
    }
  }
  return s;
}

/// δ = p + N s solves A δ = −r for every s.
void expect_all_solutions(Condensation& c, const Sparse& a, const std::vector<double>& values, unsigned seed) {
  Sparse now = a;
  now.values = values;
  const Eigen::MatrixXd dense = now.dense();
  const Eigen::VectorXd r = Eigen::VectorXd::Random(a.rows);
  const int f = c.free_count(), w = 1 + f;
  std::vector<double> x(c.rank() * w, 0.0);
  for (int i = 0; i < c.rank(); ++i) x[i * w] = -r[c.pivot_rows()[i]];
  for (const auto& e : c.free_entries()) x[e.row * w + 1 + e.column] = -values[e.value];
  c.solve(x.data(), w);

  std::srand(seed);
  const Eigen::VectorXd s = Eigen::VectorXd::Random(f);
  Eigen::VectorXd delta = Eigen::VectorXd::Zero(a.columns);
  for (int j = 0; j < f; ++j) delta[c.free_columns()[j]] = s[j];
  for (int i = 0; i < c.rank(); ++i) {
    double d = x[i * w];
    for (int j = 0; j < f; ++j) d += x[i * w + 1 + j] * s[j];
    delta[c.pivot_columns()[i]] = d;
  }
  EXPECT_LT((dense * delta + r).cwiseAbs().maxCoeff(), 1e-9 * (1 + delta.cwiseAbs().maxCoeff()));
}

TEST(Condensation, WritesEverySolutionOfHardRows) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Sparse a = random_sparse(5 + seed % 20, 8 + seed % 20 + seed % 3, 0.2, seed);
    Condensation c(a.rows, a.columns, a.pattern);
    c.choose(a.values.data());
    ASSERT_EQ(c.rank(), a.rows);
    ASSERT_TRUE(c.factor(a.values.data()));
    expect_all_solutions(c, a, a.values, seed);
  }
}

TEST(Condensation, ReplaysTheChoiceForOtherValues) {
  Sparse a = random_sparse(12, 15, 0.25, 7);
  Condensation c(a.rows, a.columns, a.pattern);
  c.choose(a.values.data());
  for (double& v : a.values) v *= 1.1 + 0.05 * std::sin(1e3 * v);
  ASSERT_TRUE(c.factor(a.values.data()));
  expect_all_solutions(c, a, a.values, 1);
}

TEST(Condensation, ReportsAStaleChoiceAndRecoversByChoosingAgain) {
  Sparse a{1, 2, {{0, 0}, {0, 1}}, {1.0, 0.5}};
  Condensation c(1, 2, a.pattern);
  c.choose(a.values.data());
  ASSERT_EQ(c.pivot_columns()[0], 0);
  a.values = {1e-3, 0.5};
  EXPECT_FALSE(c.factor(a.values.data()));
  c.choose(a.values.data());
  EXPECT_EQ(c.pivot_columns()[0], 1);
  EXPECT_TRUE(c.factor(a.values.data()));
}

TEST(Condensation, PreferenceKeepsAColumnFree) {
  const Sparse a{1, 2, {{0, 0}, {0, 1}}, {1.0, 0.5}};
  Condensation c(1, 2, a.pattern);
  const std::vector<double> preference = {0.0, 1.0};
  c.choose(a.values.data(), preference);
  EXPECT_EQ(c.free_columns()[0], 0);
}

TEST(Condensation, IgnoresKnownColumnsAndExcludedRows) {
  // Row 1 repeats row 0; the third value belongs to a known variable.
  const Sparse a{2, 2, {{0, 0}, {0, 1}, {0, -1}, {1, 0}, {1, 1}}, {2, 1, 99, 4, 2}};
  Condensation c(2, 2, a.pattern);
  c.exclude_rows({1});
  c.choose(a.values.data());
  EXPECT_EQ(c.rank(), 1);
  EXPECT_EQ(c.free_count(), 1);
  ASSERT_TRUE(c.factor(a.values.data()));
  double x[2] = {-3, 0};  // 2 δ₀ + δ₁ = −3
  x[1] = -a.values[c.free_entries()[0].value];
  c.solve(x, 2);
  EXPECT_NEAR(2 * x[0], -3, 1e-12);
  EXPECT_NEAR(x[1], -0.5, 1e-12);
}

TEST(Condensation, ASingularRowHoldsItsColumnStill) {
  // Two parallel rows: the second says nothing new and cannot move the second column by dividing by zero.
  const Sparse a{2, 2, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, {1, 1, 1, 1}};
  Condensation c(2, 2, a.pattern);
  c.choose(a.values.data());
  c.factor(a.values.data());
  EXPECT_LT(c.smallest_pivot(), 1e-12);
  double x[2] = {1, 1};
  c.solve(x, 1);
  EXPECT_NEAR(x[0] + x[1], 1, 1e-12);
  EXPECT_TRUE(std::isfinite(x[0]) && std::isfinite(x[1]));
}

TEST(Condensation, CostGrowsLinearlyAlongAChain) {
  const auto operations = [](int links) {
    Sparse a{2 * links, 2 * links + 1, {}, {}};
    for (int i = 0; i < 2 * links; ++i) {
      for (int c = std::max(0, i - 1); c <= i + 1; ++c) {
        a.pattern.push_back({i, c});
        a.values.push_back(1 + 0.1 * std::sin(i + 3 * c));
      }
    }
    Condensation c(a.rows, a.columns, a.pattern);
    c.choose(a.values.data());
    return c.operations();
  };
  EXPECT_LT(operations(1000), 11 * operations(100));
}

}  // namespace
}  // namespace kinegraph::linear::condensation_test
