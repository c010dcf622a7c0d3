#include "kinegraph/linear/barrier_step.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/base/random.hpp"

namespace kinegraph::linear::barrier_step_test {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

BarrierProblem unbounded(const MatrixXd& S, const VectorXd& g) {
  BarrierProblem problem;
  problem.S = S, problem.g = g;
  problem.fraction = 1;  // the closed forms below go all the way
  return problem;
}

BarrierProblem boxed(const MatrixXd& S, const VectorXd& g, const VectorXd& lower, const VectorXd& upper) {
  BarrierProblem problem = unbounded(S, g);
  problem.lower = lower, problem.upper = upper;
  return problem;
}

MatrixXd random_information(Random& random, int p, int rows) {
  MatrixXd J(rows, p);
  random.normal(J.data(), static_cast<int>(J.size()));
  return J.transpose() * J;
}

TEST(BarrierStep, WithoutConstraintsItIsNewtonsStep) {
  Random random(1);
  const MatrixXd S = random_information(random, 6, 9);
  const VectorXd g = VectorXd::LinSpaced(6, -3, 4);
  const BarrierStep step = barrier_step(unbounded(S, g));
  const VectorXd expected = S.ldlt().solve(-g);
  EXPECT_TRUE(step.converged);
  EXPECT_EQ(step.iterations, 1);
  EXPECT_LT((step.d - expected).norm(), 1e-9 * expected.norm());
  EXPECT_NEAR(step.value, 0.5 * g.dot(expected), 1e-9 * std::abs(step.value));
}

TEST(BarrierStep, ABoundCutsASeparableStep) {
  const VectorXd curvature = (VectorXd(4) << 1, 4, 1e-6, 1e6).finished();
  const VectorXd g = (VectorXd(4) << -3, 4, 1e-6, 1e6).finished();  // free minimum: 3, −1, −1, −1
  const VectorXd lower = (VectorXd(4) << -1, -0.25, -5, -kInfinity).finished();
  const VectorXd upper = (VectorXd(4) << 2, 5, kInfinity, 7).finished();
  const BarrierStep step = barrier_step(boxed(curvature.asDiagonal(), g, lower, upper));
  EXPECT_TRUE(step.converged);
  EXPECT_LE(step.iterations, 30);
  EXPECT_LT((step.d - (VectorXd(4) << 2, -0.25, -1, -1).finished()).norm(), 1e-7);
  EXPECT_EQ(step.bounds,
            (std::vector<BoundState>{BoundState::upper, BoundState::lower, BoundState::inside, BoundState::inside}));
  EXPECT_LT(step.d[0], 2);
  EXPECT_GT(step.d[1], -0.25);
}

TEST(BarrierStep, EqualBoundsFix) {
  const MatrixXd S = (MatrixXd(2, 2) << 2, 1, 1, 2).finished();
  const BarrierStep step = barrier_step(boxed(S, Vector2d(-2, -3), Vector2d(-1, 0), Vector2d(10, 0)));
  EXPECT_NEAR(step.d[0], 1, 1e-8);
  EXPECT_EQ(step.d[1], 0);
  EXPECT_EQ(step.bounds, (std::vector<BoundState>{BoundState::inside, BoundState::fixed}));
}

// At the minimum of a convex problem: gradient 0 where free, outward at a bound that holds.
TEST(BarrierStep, RandomBoxesSatisfyTheConditionsOfOptimality) {
  Random random(2);
  int held = 0, most = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int p = 1 + random.below(20);
    const MatrixXd S = random_information(random, p, p + 2);
    VectorXd g(p), lower(p), upper(p), unit(p);
    for (int i = 0; i < p; ++i) {
      unit[i] = std::pow(10, random.uniform(-4, 4));  // parameters of very different sizes
      g[i] = 5 * random.normal();
      lower[i] = random.uniform() < 0.3 ? -kInfinity : -std::pow(10, random.uniform(-9, 0));
      upper[i] = random.uniform() < 0.3 ? kInfinity : std::pow(10, random.uniform(-9, 0));
    }
    const MatrixXd U = unit.asDiagonal();
    const BarrierStep step =
        barrier_step(boxed(U * S * U, U * g, lower.cwiseQuotient(unit), upper.cwiseQuotient(unit)));
    ASSERT_TRUE(step.converged) << trial;
    most = std::max(most, step.iterations);
    const VectorXd d = unit.cwiseProduct(step.d), gradient = S * d + g;
    for (int i = 0; i < p; ++i) {
      EXPECT_GT(d[i], lower[i]);
      EXPECT_LT(d[i], upper[i]);
      const double tolerance = 1e-6 * g.norm() * S(i, i);
      if (step.bounds[i] == BoundState::lower) {
        EXPECT_NEAR(d[i], lower[i], 1e-5);
        EXPECT_GT(gradient[i], -tolerance);
        ++held;
      } else if (step.bounds[i] == BoundState::upper) {
        EXPECT_NEAR(d[i], upper[i], 1e-5);
        EXPECT_LT(gradient[i], tolerance);
        ++held;
      } else {
        EXPECT_NEAR(gradient[i], 0, 1e-4 * g.norm()) << trial << " " << i;
      }
    }
  }
  EXPECT_GT(held, 200);
  EXPECT_LE(most, 40);
}

/// x ≥ 0 in 2×2: [1 + d₀, d₁; d₁, 1 + d₂]
MatrixInequality cone() {
  MatrixInequality one{Matrix2d::Identity(), {}};
  one.terms.push_back({0, (Matrix2d() << 1, 0, 0, 0).finished()});
  one.terms.push_back({1, (Matrix2d() << 0, 1, 1, 0).finished()});
  one.terms.push_back({2, (Matrix2d() << 0, 0, 0, 1).finished()});
  return one;
}

// The nearest positive semidefinite matrix (Frobenius) leaves out the negative eigenvalue.
TEST(BarrierStep, NearestPositiveMatrix) {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    Matrix2d A;
    A << random.normal(), random.normal(), 0, random.normal();
    A(1, 0) = A(0, 1);
    const VectorXd weight = (VectorXd(3) << 1, 2, 1).finished();
    const VectorXd target = (VectorXd(3) << A(0, 0) - 1, A(0, 1), A(1, 1) - 1).finished();
    BarrierProblem problem = unbounded(weight.asDiagonal(), -weight.cwiseProduct(target));
    problem.inequalities.push_back(cone());
    const BarrierStep step = barrier_step(problem);
    const Eigen::SelfAdjointEigenSolver<Matrix2d> eigen(A);
    const Matrix2d nearest =
        eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
    EXPECT_TRUE(step.converged);
    EXPECT_NEAR(step.d[0], nearest(0, 0) - 1, 1e-5);
    EXPECT_NEAR(step.d[1], nearest(0, 1), 1e-5);
    EXPECT_NEAR(step.d[2], nearest(1, 1) - 1, 1e-5);
    EXPECT_EQ(step.inequalities[0], eigen.eigenvalues()[0] < 0) << eigen.eigenvalues().transpose();
  }
}

// Moments of inertia (1, 1, 1): the data ask for (2, 1, 4), which no body has, for 4 > 2 + 1. ½ tr(J) 1 − J ⪰ 0.
TEST(BarrierStep, TheTriangleInequalityOfInertias) {
  MatrixInequality triangle{0.5 * MatrixXd::Identity(3, 3), {}};
  for (int i = 0; i < 3; ++i) {
    MatrixXd term = 0.5 * MatrixXd::Identity(3, 3);
    term(i, i) = -0.5;
    triangle.terms.push_back({i, term});
  }
  BarrierProblem problem = unbounded(MatrixXd::Identity(3, 3), -Eigen::Vector3d(1, 0, 3));
  problem.inequalities.push_back(triangle);
  const BarrierStep step = barrier_step(problem);
  // the foot of the perpendicular on J₀ + J₁ − J₂ = 0
  const Eigen::Vector3d expected(1 + 1.0 / 3, 1.0 / 3, 3 - 1.0 / 3);
  EXPECT_TRUE(step.converged);
  EXPECT_LT((step.d - expected).norm(), 1e-7);
  EXPECT_TRUE(step.inequalities[0]);
  EXPECT_LT(step.d[2] + 1, step.d[0] + step.d[1] + 2);

  // A moment that the data do not see gives way.
  problem.S(0, 0) = problem.g[0] = 0;
  const BarrierStep loose = barrier_step(problem);
  EXPECT_TRUE(loose.converged);
  EXPECT_NEAR(loose.d[1], 0, 1e-6);
  EXPECT_NEAR(loose.d[2], 3, 1e-6);
  EXPECT_GT(loose.d[0], 2 - 1e-6);
}

// ⟨F, Z⟩ = 0, Z ⪰ 0 and S d + g = A*(Z): Z from the null space of F at the answer.
TEST(BarrierStep, RandomMatrixInequalities) {
  Random random(4);
  int active = 0, most = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const int p = 3 + random.below(8), size = 2 + random.below(3);
    BarrierProblem problem = unbounded(random_information(random, p, p + 3), VectorXd(p));
    random.normal(problem.g.data(), p);
    problem.g *= 20;
    MatrixInequality one{random_information(random, size, size + 2), {}};
    for (int i = 0; i < p; ++i) {
      MatrixXd term(size, size);
      random.normal(term.data(), size * size);
      one.terms.push_back({i, term + term.transpose()});
    }
    problem.inequalities = {one};
    const BarrierStep step = barrier_step(problem);
    ASSERT_TRUE(step.converged) << trial;
    most = std::max(most, step.iterations);
    MatrixXd F = one.constant;
    for (int i = 0; i < p; ++i) F += step.d[i] * one.terms[i].matrix;
    EXPECT_EQ(Eigen::LLT<MatrixXd>(F).info(), Eigen::Success);
    const VectorXd gradient = problem.S * step.d + problem.g;
    if (!step.inequalities[0]) {
      EXPECT_LT(gradient.norm(), 1e-3 * problem.g.norm());
      continue;
    }
    ++active;
    // Any direction that keeps F ⪰ 0 to first order must not go down.
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(F);
    const double nothing = 1e-4 * one.constant.norm();
    ASSERT_LT(eigen.eigenvalues()[0], nothing);
    int null = 0;
    while (null < size && eigen.eigenvalues()[null] < nothing) ++null;
    const MatrixXd N = eigen.eigenvectors().leftCols(null);
    // gradient = A*(N W Nᵀ): solve for the symmetric W, which must be positive.
    MatrixXd equations(p, null * (null + 1) / 2);
    for (int i = 0; i < p; ++i) {
      const MatrixXd reduced = N.transpose() * one.terms[i].matrix * N;
      for (int a = 0, at = 0; a < null; ++a) {
        for (int b = a; b < null; ++b) equations(i, at++) = (a == b ? 1 : 2) * reduced(a, b);
      }
    }
    const VectorXd w = equations.colPivHouseholderQr().solve(gradient);
    EXPECT_LT((equations * w - gradient).norm(), 1e-3 * gradient.norm()) << trial;
    MatrixXd W(null, null);
    for (int a = 0, at = 0; a < null; ++a) {
      for (int b = a; b < null; ++b) W(a, b) = W(b, a) = w[at++];
    }
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatrixXd>(W).eigenvalues()[0], -1e-3 * W.norm());
  }
  EXPECT_GT(active, 20);
  EXPECT_LE(most, 40);
}

TEST(BarrierStep, AShareOfTheRoomRemains) {
  BarrierProblem problem =
      boxed(MatrixXd::Identity(3, 3), VectorXd::Constant(3, 10), VectorXd::Constant(3, -2), VectorXd::Constant(3, 1));
  problem.fraction = 0.9;
  problem.inequalities.push_back(cone());
  const BarrierStep step = barrier_step(problem);
  EXPECT_NEAR(step.d[0], -0.9, 1e-6);  // of 1 + d₀ ≥ 0
  EXPECT_NEAR(step.d[2], -0.9, 1e-6);
  problem.inequalities.clear();
  EXPECT_NEAR(barrier_step(problem).d[1], -1.8, 1e-6);
}

TEST(BarrierStep, AStartVeryNearABoundLeavesIt) {
  for (const double room : {1e-3, 1e-9, 1e-15, 0.0}) {
    const BarrierStep step = barrier_step(
        boxed(Matrix2d::Identity(), Vector2d(-3, 1), Vector2d(-room, -room), Vector2d(kInfinity, kInfinity)));
    EXPECT_TRUE(step.converged) << room;
    EXPECT_LE(step.iterations, 40);
    EXPECT_NEAR(step.d[0], 3, 1e-6);
    EXPECT_NEAR(step.d[1], -room, 1e-6);
    EXPECT_GE(step.d[1], -room);
    EXPECT_EQ(step.bounds[1], BoundState::lower);
  }
  for (const double room : {1e-3, 1e-9, 1e-13}) {
    BarrierProblem problem = unbounded(MatrixXd::Identity(3, 3), Eigen::Vector3d(-1, 0, -1));
    problem.inequalities.push_back(cone());
    problem.inequalities[0].constant = (Matrix2d() << 1, 1 - room, 1 - room, 1).finished();
    const BarrierStep step = barrier_step(problem);
    EXPECT_TRUE(step.converged) << room;
    EXPECT_LT((step.d - Eigen::Vector3d(1, 0, 1)).norm(), 1e-6) << room;
  }
}

TEST(BarrierStep, UselessProblemsGiveNoStep) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto still = [](const BarrierProblem& problem) {
    const BarrierStep step = barrier_step(problem);
    return step.d.norm() == 0 && step.value == 0;
  };
  EXPECT_TRUE(still(unbounded(MatrixXd::Zero(2, 2), Vector2d(1, 1))));
  EXPECT_TRUE(still(unbounded(MatrixXd::Constant(2, 2, nan), Vector2d(1, 1))));
  EXPECT_TRUE(still(unbounded(MatrixXd::Identity(2, 2), Vector2d(1, kInfinity))));
  EXPECT_TRUE(still(unbounded(MatrixXd::Identity(2, 2), Vector2d(0, 0))));
  EXPECT_TRUE(still(unbounded(MatrixXd(0, 0), VectorXd(0))));
  EXPECT_TRUE(still(boxed(Matrix2d::Identity(), Vector2d(1, 1), Vector2d(1, 1), Vector2d(2, 2))));
  BarrierProblem outside = unbounded(MatrixXd::Identity(3, 3), Eigen::Vector3d(-1, 0, -1));
  outside.inequalities.push_back(cone());
  outside.inequalities[0].constant(0, 0) = -1;
  EXPECT_TRUE(still(outside));
  // A direction that S does not see: the step is finite and S is served.
  const BarrierStep flat = barrier_step(unbounded(Matrix2d::Ones(), Vector2d(-1, -1)));
  EXPECT_TRUE(flat.d.allFinite());
  EXPECT_NEAR(flat.d.sum(), 1, 1e-6);
}

}  // namespace
}  // namespace kinegraph::linear::barrier_step_test
