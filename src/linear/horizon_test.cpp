#include <gtest/gtest.h>

#include "kinegraph/linear/allocations_test.hpp"
#include "kinegraph/linear/horizon_systems_test.hpp"

namespace kinegraph::linear::horizon_test {
namespace {

using test::HorizonSystem;
using test::LinearQuadratic;
using test::MatrixXd;
using test::random_matrix;
using test::VectorXd;
using Type = HorizonPlace::Type;

/// Everything at once: knots of different sizes, local rows, link rows, smoothness between neighbours, a border of two.
HorizonSystem general(unsigned seed, int knots, bool convex, bool redundant = false) {
  std::mt19937 random(seed);
  HorizonSystem s;
  s.knots = knots;
  std::vector<int> first(knots), count(knots);
  for (int k = 0; k < knots; ++k) {
    count[k] = 5 + static_cast<int>(random() % 3);
    first[k] = s.variables(k, count[k]);
    const MatrixXd h = random_matrix(random, 2, count[k]);
    s.symmetric(first[k], h.transpose() * h);
    s.symmetric(first[k] + 3, 0.1 * MatrixXd::Identity(2, 2));
    if (convex) s.symmetric(first[k], MatrixXd::Identity(count[k], count[k]));
  }
  const int border = s.add(Type::border, 0, RowKind::variable);
  s.add(Type::border, 0, RowKind::variable);
  s.symmetric(border, 10 * MatrixXd::Identity(2, 2));
  for (int k = 0; k < knots; ++k) {
    const int row = s.add(Type::knot, k, RowKind::hard);
    const MatrixXd local = random_matrix(random, 1, count[k]);
    s.block(row, first[k], local);
    if (redundant && k % 7 == 3) s.block(s.add(Type::knot, k, RowKind::hard), first[k], 2 * local);
    if (k % 5 == 0 && !(redundant && k % 7 == 3)) s.block(row, border, random_matrix(random, 1, 2));
    s.block(border, first[k], 0.05 * random_matrix(random, 2, count[k]));
    if (k + 1 == knots) break;
    for (int i = 0; i < 2; ++i) {
      const int link = s.add(Type::link, k, RowKind::hard);
      s.block(link, first[k], random_matrix(random, 1, count[k]));
      s.block(link, first[k + 1], random_matrix(random, 1, count[k + 1]));
    }
    // ½ (w xₖ − w' xₖ₊₁)²
    const MatrixXd w = random_matrix(random, 1, count[k]), v = random_matrix(random, 1, count[k + 1]);
    s.symmetric(first[k], w.transpose() * w);
    s.symmetric(first[k + 1], v.transpose() * v);
    s.block(first[k + 1], first[k], -v.transpose() * w);
  }
  s.rhs = random_matrix(random, static_cast<int>(s.place.size()), 1);
  return s;
}

TEST(Horizon, EqualsTheTextbookRiccatiRecursion) {
  for (const auto& [states, controls, knots] : {std::tuple{2, 1, 40}, {4, 1, 201}, {6, 3, 77}, {3, 2, 9}}) {
    const LinearQuadratic problem = LinearQuadratic::random(states, states, controls, knots);
    const HorizonSystem s = problem.system();
    const VectorXd expected = problem.riccati();
    for (int segments : {1, 2, 3, 5}) {
      const HorizonPlan plan = s.plan(segments);
      HorizonElimination elimination(plan);
      elimination.factor(s.values, s.diagonal);
      ASSERT_TRUE(elimination.is_minimum());
      VectorXd x = s.rhs;
      elimination.solve(x);
      EXPECT_LE((x.head(expected.size()) - expected).lpNorm<Eigen::Infinity>(), 1e-10 * (1 + expected.norm()))
          << states << " states, " << segments << " segments";
    }
  }
}

TEST(Horizon, EqualsADenseSolution) {
  int minima = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    HorizonSystem s = general(seed, 3 + static_cast<int>(seed) * 4, seed % 2 == 0);
    if (seed % 2 == 1) s.diagonal[10] = -1000;  // a variable that pays
    const MatrixXd dense = s.dense();
    const VectorXd expected = dense.fullPivLu().solve(s.rhs);
    const VectorXd eigenvalues = dense.selfadjointView<Eigen::Lower>().eigenvalues();
    for (int segments : {1, 2, 4}) {
      const HorizonPlan plan = s.plan(segments);
      HorizonElimination elimination(plan);
      const HorizonInertia& inertia = elimination.factor(s.values, s.diagonal);
      EXPECT_EQ(inertia.negative, (eigenvalues.array() < 0).count()) << seed;
      EXPECT_EQ(inertia.positive, (eigenvalues.array() > 0).count()) << seed;
      EXPECT_EQ(elimination.is_minimum(), (eigenvalues.array() < 0).count() == plan.hard_rows()) << seed;
      minima += elimination.is_minimum();
      VectorXd x = s.rhs;
      EXPECT_LE(elimination.solve(x), 1e-12);
      EXPECT_LE((x - expected).norm(), 1e-9 * (1 + expected.norm())) << seed << ", " << segments << " segments";
    }
  }
  EXPECT_EQ(minima, 6 * 3);  // the even seeds
}

TEST(Horizon, SeesWhatIsNotAMinimum) {
  HorizonSystem s = LinearQuadratic::random(1, 3, 2, 30).system();
  const HorizonPlan plan = s.plan();
  HorizonElimination elimination(plan);
  elimination.factor(s.values, s.diagonal);
  EXPECT_TRUE(elimination.is_minimum());
  s.diagonal[10 * 5 + 3] = -50;  // a control that pays
  elimination.factor(s.values, s.diagonal);
  EXPECT_FALSE(elimination.is_minimum());
  EXPECT_EQ(elimination.inertia().zero, 0);
  s.diagonal[10 * 5 + 3] = std::nan("");
  EXPECT_FALSE(elimination.factor(s.values, s.diagonal).finite);
}

TEST(Horizon, RedundantRowsAreFoundAndRegularised) {
  HorizonSystem s = general(5, 32, true, true);
  const HorizonPlan plan = s.plan();
  HorizonElimination elimination(plan);
  EXPECT_EQ(elimination.factor(s.values, s.diagonal).zero, 5);  // knots 3, 10, 17, 24, 31
  EXPECT_FALSE(elimination.is_minimum());
  // A right-hand side that can be met, and a small compliance: the answer of the system without the copies.
  const MatrixXd dense = s.dense();
  std::mt19937 random(3);
  const VectorXd z = random_matrix(random, static_cast<int>(s.place.size()), 1);
  s.rhs = dense * z;
  for (std::size_t i = 0; i < s.kind.size(); ++i) s.diagonal[i] = s.kind[i] == RowKind::hard ? -1e-9 : 0;
  elimination.factor(s.values, s.diagonal);
  EXPECT_TRUE(elimination.is_minimum());
  VectorXd x = s.rhs;
  elimination.solve(x);
  for (std::size_t i = 0; i < s.kind.size(); ++i) {
    if (s.kind[i] == RowKind::variable) {
      EXPECT_NEAR(x[i], z[i], 1e-6);
    }
  }
}

TEST(Horizon, SameBitsForAnyNumberOfThreads) {
  const HorizonSystem s = general(9, 120, true);
  const HorizonPlan plan = s.plan(4);
  VectorXd reference;
  for (int threads : {1, 2, 4}) {
    HorizonElimination elimination(plan);
    elimination.set_threads(threads);
    elimination.factor(s.values, s.diagonal);
    VectorXd x = s.rhs;
    elimination.solve(x);
    if (threads == 1) reference = x;
    EXPECT_TRUE((x.array() == reference.array()).all()) << threads;
  }
}

TEST(Horizon, AllocatesNothingOnceItHasRun) {
  if (!test::allocations_are_counted()) GTEST_SKIP();
  const HorizonSystem s = general(11, 60, false);
  const HorizonPlan plan = s.plan();
  HorizonElimination elimination(plan);
  VectorXd x = s.rhs;
  elimination.factor(s.values, s.diagonal);
  elimination.solve(x);
  x = s.rhs;
  const long before = test::allocations();
  elimination.factor(s.values, s.diagonal);
  elimination.solve(x);
  EXPECT_EQ(test::allocations() - before, 0);
}

TEST(Horizon, WorkIsLinearInTheHorizon) {
  const auto operations = [](int knots) {
    const HorizonSystem s = LinearQuadratic::random(2, 4, 2, knots).system();
    const HorizonPlan plan = s.plan();
    HorizonElimination elimination(plan);
    elimination.factor(s.values, s.diagonal);
    return elimination.operations() / knots;
  };
  EXPECT_NEAR(operations(2000) / operations(50), 1, 0.1);
}

}  // namespace
}  // namespace kinegraph::linear::horizon_test
