#include "kinegraph/linear/ldlt.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "kinegraph/linear/allocations_test.hpp"
#include "kinegraph/linear/systems_test.hpp"

namespace kinegraph::linear::ldlt_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::System;

constexpr OrderingMethod kMethods[] = {OrderingMethod::natural, OrderingMethod::colamd, OrderingMethod::amd,
                                       OrderingMethod::metis, OrderingMethod::user};

Plan plan_of(const System& s, OrderingMethod method = OrderingMethod::amd) {
  PlanOptions options{.ordering = method, .user_order = {}, .rows = {}};
  if (method == OrderingMethod::user) {
    options.user_order = natural_order(s.pattern.size());
    std::shuffle(options.user_order.begin(), options.user_order.end(), std::mt19937(5));
  }
  auto plan = Plan::make(s.pattern, s.values, options);
  if (!plan) throw std::runtime_error(plan.failure().to_string());
  return *std::move(plan);
}

double relative_residual(const System& s, const VectorXd& x, const VectorXd& b) {
  VectorXd r = -b;
  multiply_add(s.pattern, s.values, x.data(), r.data());
  return r.lpNorm<Eigen::Infinity>() / (s.norm() * x.lpNorm<Eigen::Infinity>() + b.lpNorm<Eigen::Infinity>());
}

TEST(Ldlt, SolvesDefiniteSystemsInEveryOrder) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 10; ++trial) {
    const System s = test::random_definite(60, rng);
    for (auto method : kMethods) {
      const Plan plan = plan_of(s, method);
      EXPECT_EQ(plan.cost().pairs, 0);
      Elimination e(plan);
      const FactorReport report = e.factor(s.values);
      EXPECT_EQ(report.positive, 60);
      EXPECT_FALSE(report.stale);
      const VectorXd b = test::random_vector(60, rng);
      VectorXd x = b;
      e.solve(x);
      EXPECT_LT(relative_residual(s, x, b), 1e-15);
      EXPECT_LT((x - s.dense().ldlt().solve(b)).norm(), 1e-9 * x.norm());
    }
  }
}

TEST(Ldlt, IsStableWithHardRowsInEveryOrder) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 40; ++trial) {
    // Half of the variables have no curvature at all; C = 0.
    const int variables = 40, hard = 15 + trial % 15;
    const System s = test::random_kkt(variables, hard, std::min(hard, 20), rng);
    for (auto method : kMethods) {
      const Plan plan = plan_of(s, method);
      Elimination e(plan);
      const FactorReport report = e.factor(s.values);
      EXPECT_EQ(report.positive, variables);
      EXPECT_EQ(report.negative, hard);
      EXPECT_LT(e.growth(), 30);
      const VectorXd b = test::random_vector(variables + hard, rng);
      VectorXd x = b;
      const SolveReport solved = e.solve(x);
      EXPECT_LT(solved.backward_error, 1e-14);
      EXPECT_LT(relative_residual(s, x, b), 2e-15);
    }
  }
}

TEST(Ldlt, MechanismWithMasslessCoordinates) {
  // [M Φqᵀ; Φq 0] of a pendulum chain in natural coordinates, where every second point carries no mass.
  std::mt19937 rng(3);
  const System s = test::pendulum_chain(50, rng);
  for (auto method : kMethods) {
    const Plan plan = plan_of(s, method);
    Elimination e(plan);
    const FactorReport report = e.factor(s.values);
    EXPECT_EQ(report.zero, 0);
    EXPECT_LT(e.growth(), 30);
    const VectorXd b = test::random_vector(s.pattern.size(), rng);
    VectorXd x = b;
    EXPECT_LT(e.solve(x).backward_error, 2e-15);
  }
}

TEST(Ldlt, CostIsLinearInTheLengthOfAChain) {
  std::mt19937 rng(4);
  const System shorter = test::time_chain(200, rng), longer = test::time_chain(2000, rng);
  for (auto method : {OrderingMethod::natural, OrderingMethod::amd, OrderingMethod::colamd, OrderingMethod::metis}) {
    const auto a = plan_of(shorter, method).cost(), b = plan_of(longer, method).cost();
    EXPECT_NEAR(b.flops / a.flops, 10, 1) << name(method);
    EXPECT_NEAR(double(b.fill) / double(a.fill), 10, 1) << name(method);
  }
}

TEST(Ldlt, FactorAndSolveAllocateNothing) {
  if (!test::allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  std::mt19937 rng(5);
  const System s = test::time_chain(50, rng);
  const Plan plan = plan_of(s);
  Elimination e(plan);
  VectorXd x = test::random_vector(s.pattern.size(), rng);
  const long before = test::allocations();
  for (int i = 0; i < 3; ++i) {
    e.factor(s.values, {1e-9, 1e-9});
    e.solve(x, 2);
  }
  EXPECT_EQ(test::allocations(), before);
}

TEST(Ldlt, RefinementUndoesRegularisation) {
  std::mt19937 rng(6);
  const System s = test::random_kkt(40, 25, 20, rng);
  const Plan plan = plan_of(s);
  Elimination e(plan);
  e.factor(s.values, {1e-7, 1e-7});
  const VectorXd b = test::random_vector(65, rng);
  VectorXd once = b, refined = b;
  EXPECT_GT(e.solve(once, 0).backward_error, 1e-9);
  EXPECT_LT(e.solve(refined, 3).backward_error, 1e-14);
}

TEST(Ldlt, FallenPivotMakesThePlanStaleAndRefreshHelps) {
  // x₀ is pivoted against the equality a x₀ + b x₁ = 0 while a ≫ b, and must not be when a ≪ b.
  std::vector<int> slot;
  const std::vector<Entry> entries{{2, 0}, {2, 1}, {1, 1}};
  System s;
  s.pattern = SymmetricPattern::from_entries({RowKind::variable, RowKind::variable, RowKind::hard}, entries, slot);
  const auto set = [&](double a, double b) {
    s.values.assign(s.pattern.entries(), 0.0);
    s.values[slot[0]] = a;
    s.values[slot[1]] = b;
    s.values[slot[2]] = 1;
  };
  set(1, 0.5);
  Plan plan = plan_of(s);
  Elimination e(plan);
  EXPECT_FALSE(e.factor(s.values).stale);
  set(0.5, 1);
  EXPECT_FALSE(e.factor(s.values).stale);
  set(1e-3, 1);
  const FactorReport report = e.factor(s.values);
  EXPECT_TRUE(report.stale);
  EXPECT_NEAR(report.worst_ratio, 1e-3, 1e-6);
  plan.refresh(s.values);
  EXPECT_FALSE(e.factor(s.values).stale);
  VectorXd x = VectorXd::Ones(3);
  EXPECT_LT(e.solve(x).backward_error, 1e-15);
}

TEST(Ldlt, UnitsDoNotMakeAPlanStale) {
  std::mt19937 rng(11);
  System s = test::random_kkt(40, 25, 20, rng);
  const Plan plan = plan_of(s);
  Elimination e(plan);
  for (double& v : s.values) v *= 1e-3;
  const FactorReport report = e.factor(s.values);
  EXPECT_FALSE(report.stale);
  EXPECT_EQ(report.zero, 0);
}

TEST(Ldlt, PivotsThatVanishWaitForALaterFront) {
  // Symmetric matrices with many zeros on the diagonal and entries of many sizes, in an order of no sense: here the
  // matching alone would divide by almost nothing.
  std::mt19937 rng(12);
  std::normal_distribution<double> normal;
  int delayed = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 30;
    MatrixXd k = test::random_sparse(n, n, 0.07, rng);
    k = (k.array() * k.unaryExpr([&](double) { return std::exp(2 * normal(rng)); }).array()).matrix();
    k = (k + k.transpose()).eval();
    for (int i = 0; i < n; i += 2) k(i, i) = 0;
    const VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<MatrixXd>(k).eigenvalues();
    if (eigenvalues.cwiseAbs().minCoeff() < 1e-8 * eigenvalues.cwiseAbs().maxCoeff()) continue;
    const System s = System::from_dense(k, std::vector<RowKind>(n, RowKind::variable));
    const Plan plan = plan_of(s, OrderingMethod::user);
    delayed += plan.cost().delayed;
    Elimination e(plan);
    const FactorReport report = e.factor(s.values);
    EXPECT_FALSE(report.stale);
    EXPECT_EQ(report.positive, (eigenvalues.array() > 0).count());
    const VectorXd b = test::random_vector(n, rng);
    VectorXd x = b;
    EXPECT_LT(e.solve(x).backward_error, 2e-15);
  }
  EXPECT_GT(delayed, 0);
}

TEST(Ldlt, RedundantConsistentRowsAreSolvedAndCounted) {
  std::mt19937 rng(7);
  System s = test::random_kkt(30, 10, 5, rng, /*repeat_last_row=*/true);
  const Plan plan = plan_of(s);
  Elimination e(plan);
  const FactorReport report = e.factor(s.values);
  EXPECT_EQ(report.zero, 1);
  EXPECT_EQ(report.positive, 30);
  EXPECT_EQ(report.negative, 10);
  const VectorXd wanted = test::random_vector(s.pattern.size(), rng);
  VectorXd b = VectorXd::Zero(s.pattern.size());
  multiply_add(s.pattern, s.values, wanted.data(), b.data());
  VectorXd x = b;
  EXPECT_LT(e.solve(x).backward_error, 1e-14);
  EXPECT_LT((x - wanted).head(30).norm(), 1e-10);
}

TEST(Ldlt, InertiaOfIndefiniteMatricesWithoutHardRows) {
  std::mt19937 rng(8);
  for (int trial = 0; trial < 20; ++trial) {
    const System s = test::random_indefinite(40, rng);
    const Plan plan = plan_of(s);
    Elimination e(plan);
    const FactorReport report = e.factor(s.values);
    const VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<MatrixXd>(s.dense()).eigenvalues();
    EXPECT_EQ(report.positive, (eigenvalues.array() > 0).count());
    EXPECT_EQ(report.negative, (eigenvalues.array() < 0).count());
    const VectorXd b = test::random_vector(40, rng);
    VectorXd x = b;
    e.solve(x);
    EXPECT_LT(relative_residual(s, x, b), 1e-15);
  }
}

TEST(Ldlt, PlanSaysWhatIsWrongWithItsInput) {
  std::mt19937 rng(9);
  const System s = test::random_definite(4, rng);
  const auto message = [&](SymmetricPattern p, std::vector<double> v, PlanOptions o) {
    auto plan = Plan::make(std::move(p), v, std::move(o));
    return plan ? std::string() : plan.failure().to_string();
  };
  EXPECT_EQ(message(s.pattern, {1.0}, {}), "error: linear system: must have 10 values, has 1");
  EXPECT_EQ(message(s.pattern, s.values, {.ordering = OrderingMethod::user, .user_order = {0, 1, 2, 2}, .rows = {}}),
            "error: ordering: names unknown 2 twice");
  SymmetricPattern bad = s.pattern;
  bad.row[3] = 7;
  EXPECT_EQ(message(bad, s.values, {}), "error: linear system: rows must be from 0 to 3, one is 7");
}

TEST(Ldlt, NotANumberIsReported) {
  std::mt19937 rng(10);
  System s = test::random_definite(5, rng);
  const Plan plan = plan_of(s);
  Elimination e(plan);
  s.values[2] = std::nan("");
  EXPECT_FALSE(e.factor(s.values).finite);
}

}  // namespace
}  // namespace kinegraph::linear::ldlt_test
