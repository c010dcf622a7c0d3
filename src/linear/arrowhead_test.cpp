#include "kinegraph/linear/arrowhead.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kinegraph/base/random.hpp"
#include "kinegraph/linear/allocations_test.hpp"

namespace kinegraph::linear::arrowhead_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Arrowhead::RowMajor;

RowMajor random_matrix(Random& random, int rows, int columns) {
  RowMajor m(rows, columns);
  random.normal(m.data(), static_cast<int>(m.size()));
  return m;
}

/// Rows as they are added, and the same rows as one dense matrix: knots one after another, then the border.
struct Problem {
  int n, knots, p;
  struct Rows {
    int knot, width;
    RowMajor states, border;
    VectorXd residual;
  };
  std::vector<Rows> rows;

  int size() const { return n * knots + p; }
  void add(Random& random, int knot, int width, int count) {
    rows.push_back({knot, width, random_matrix(random, count, width * n), random_matrix(random, count, p),
                    random_matrix(random, count, 1)});
  }
  MatrixXd dense(VectorXd& r) const {
    int count = 0;
    for (const Rows& each : rows) count += static_cast<int>(each.residual.size());
    MatrixXd J = MatrixXd::Zero(count, size());
    r.resize(count);
    int at = 0;
    for (const Rows& each : rows) {
      const int m = static_cast<int>(each.residual.size());
      J.block(at, each.knot * n, m, each.width * n) = each.states;
      J.block(at, n * knots, m, p) = each.border;
      r.segment(at, m) = each.residual;
      at += m;
    }
    return J;
  }
  void write(Arrowhead& a) const {
    for (const Rows& each : rows) {
      a.add_rows(each.knot, each.states.data(), each.border.data(), each.residual.data(),
                 static_cast<int>(each.residual.size()), each.width);
    }
  }
};

Problem random_problem(int n, int knots, int p, std::uint64_t seed) {
  Random random(seed, static_cast<std::uint64_t>(n), static_cast<std::uint32_t>(p));
  Problem problem{n, knots, p, {}};
  problem.add(random, 0, 1, n + p);
  for (int k = 0; k < knots; ++k) problem.add(random, k, std::min(3, knots - k), n + 2);
  if (knots > 1) problem.add(random, knots - 2, 2, 40);  // more than are packed at once
  return problem;
}

struct Dense {
  VectorXd r;
  MatrixXd J, H;
  VectorXd g;
  explicit Dense(const Problem& problem) : J(problem.dense(r)), H(J.transpose() * J), g(J.transpose() * r) {}
  MatrixXd damped(double damping) const {
    MatrixXd result = H;
    result.diagonal() *= 1 + damping;
    return result;
  }
};

TEST(Arrowhead, SolvesAsADenseMatrixDoes) {
  Arrowhead a;
  for (int n = 1; n <= 13; ++n) {
    for (const int p : {0, 1, 3, 7}) {
      for (const int knots : {1, 2, 3, 7}) {
        for (const double damping : {0.0, 0.3}) {
          SCOPED_TRACE(testing::Message() << n << " " << p << " " << knots << " " << damping);
          const Problem problem = random_problem(n, knots, p, 1);
          const Dense dense(problem);
          a.reset(n, knots, p);
          problem.write(a);
          EXPECT_NEAR(a.cost(), dense.r.squaredNorm(), 1e-12 * a.cost());
          EXPECT_LT((a.gradient(knots - 1) - dense.g.segment(n * (knots - 1), n)).norm(), 1e-10);
          EXPECT_LT((a.border_gradient() - dense.g.tail(p)).norm(), 1e-10);
          ASSERT_TRUE(a.eliminate(damping));
          const VectorXd expected = dense.damped(damping).ldlt().solve(-dense.g);
          const VectorXd chi = p ? VectorXd(a.schur().ldlt().solve(-a.reduced_gradient())) : VectorXd();
          EXPECT_LT((chi - expected.tail(p)).norm(), 1e-8 * expected.norm());
          a.substitute(chi);
          for (int k = 0; k < knots; ++k) {
            EXPECT_LT((a.step(k) - expected.segment(n * k, n)).norm(), 1e-8 * expected.norm());
          }
          const double fall = dense.r.squaredNorm() - (dense.r + dense.J * expected).squaredNorm();
          EXPECT_NEAR(a.predicted_fall(), fall, 1e-9 * a.cost());
        }
      }
    }
  }
}

// The border's step is the caller's choice: the states follow it, and the fall of the cost is that of what was chosen.
TEST(Arrowhead, StatesFollowAnyStepOfTheBorder) {
  const Problem problem = random_problem(5, 6, 4, 2);
  const Dense dense(problem);
  Arrowhead a;
  a.reset(5, 6, 4);
  problem.write(a);
  ASSERT_TRUE(a.eliminate(0.1));
  const VectorXd chi = VectorXd::LinSpaced(4, -0.2, 0.3);
  a.substitute(chi);
  VectorXd all(problem.size());
  all.head(30) =
      dense.damped(0.1).topLeftCorner(30, 30).ldlt().solve(-dense.g.head(30) - dense.H.topRightCorner(30, 4) * chi);
  all.tail(4) = chi;
  for (int k = 0; k < 6; ++k) EXPECT_LT((a.step(k) - all.segment(5 * k, 5)).norm(), 1e-10);
  const double fall = dense.r.squaredNorm() - (dense.r + dense.J * all).squaredNorm();
  EXPECT_NEAR(a.predicted_fall(), fall, 1e-10 * a.cost());
}

TEST(Arrowhead, CovariancesAreBlocksOfTheInverse) {
  for (const int n : {1, 4, 6, 9}) {
    const int knots = 6, p = 3, states = n * knots;
    const Problem problem = random_problem(n, knots, p, 3);
    const Dense dense(problem);
    const MatrixXd inverse = dense.H.inverse();
    const MatrixXd H_states = dense.H.topLeftCorner(states, states), B = dense.H.topRightCorner(states, p);
    Arrowhead a;
    a.reset(n, knots, p);
    problem.write(a);
    ASSERT_TRUE(a.eliminate());
    const MatrixXd border = a.schur().inverse();
    EXPECT_LT((border - inverse.bottomRightCorner(p, p)).norm(), 1e-10 * border.norm());
    const MatrixXd X = H_states.ldlt().solve(B);
    a.find_border_response();
    for (int k = 0; k < knots; ++k) EXPECT_LT((a.border_response(k) - X.middleRows(n * k, n)).norm(), 1e-9 * X.norm());
    int seen = 0;
    a.covariances(border, [&](int k, const MatrixXd& P) {
      EXPECT_EQ(k, knots - 1 - seen++);
      EXPECT_LT((P - inverse.block(n * k, n * k, n, n)).norm(), 1e-9 * inverse.norm());
    });
    EXPECT_EQ(seen, knots);
    const MatrixXd given = H_states.inverse();
    a.covariances({}, [&](int k, const MatrixXd& P) {
      EXPECT_LT((P - given.block(n * k, n * k, n, n)).norm(), 1e-9 * given.norm());
    });
    Arrowhead::RowMajor all = Arrowhead::RowMajor::Identity(states, states);
    a.solve(all);
    EXPECT_LT((all - given).norm(), 1e-9 * given.norm());
  }
}

// The scores of all rows add up to the reduced gradient, and each is that of its own rows.
TEST(Arrowhead, ScoresOfRows) {
  const Problem problem = random_problem(4, 5, 3, 4);
  const Dense dense(problem);
  Arrowhead a;
  a.reset(4, 5, 3);
  problem.write(a);
  ASSERT_TRUE(a.eliminate());
  a.find_border_response();
  const MatrixXd X = dense.H.topLeftCorner(20, 20).ldlt().solve(dense.H.topRightCorner(20, 3));
  const MatrixXd effective = dense.J.rightCols(3) - dense.J.leftCols(20) * X;
  VectorXd total = VectorXd::Zero(3);
  int at = 0;
  for (const auto& each : problem.rows) {
    const int m = static_cast<int>(each.residual.size());
    VectorXd score = VectorXd::Zero(3);
    a.add_score(each.knot, each.states.data(), each.border.data(), each.residual.data(), m, each.width, score);
    EXPECT_LT((score - effective.middleRows(at, m).transpose() * each.residual).norm(), 1e-9);
    total += score;
    at += m;
  }
  EXPECT_LT((total - a.reduced_gradient()).norm(), 1e-9);
  MatrixXd S = MatrixXd::Zero(3, 3);
  for (const auto& each : problem.rows) {
    a.add_information(each.knot, each.states.data(), each.border.data(), static_cast<int>(each.residual.size()),
                      each.width, S);
  }
  EXPECT_LT((S - a.schur()).norm(), 1e-9 * S.norm());
}

/// The Schur complement of a chain of a single unknown and a single parameter, with 64 bits of mantissa.
long double exact_schur(const Problem& problem) {
  std::vector<std::array<long double, 4>> rows(problem.knots, {0, 0, 0, 0});  // k, k + 1, k + 2, border
  long double schur = 0;
  for (const auto& each : problem.rows) {
    const long double border = each.border(0, 0);
    for (int i = 0; i < each.width; ++i) {
      for (int j = i; j < each.width; ++j) {
        rows[each.knot + i][j - i] += static_cast<long double>(each.states(0, i)) * each.states(0, j);
      }
      rows[each.knot + i][3] += each.states(0, i) * border;
    }
    schur += border * border;
  }
  for (int k = 0; k < problem.knots; ++k) {
    const auto& own = rows[k];
    for (int i = 1; i <= 2 && k + i < problem.knots; ++i) {
      for (int j = i; j <= 2; ++j) rows[k + i][j - i] -= own[i] * own[j] / own[0];
      rows[k + i][3] -= own[i] * own[3] / own[0];
    }
    schur -= own[3] * own[3] / own[0];
  }
  return schur;
}

// A mass whose force is not known, read to a millimetre at every tenth of 4000 steps, impulses to a millionth.
TEST(Arrowhead, InformationOfStiffChainsAsASumOfSquares) {
  const int knots = 4000;
  const double h = 1e-3, weight = 1e6, reading = 1e3;
  Problem problem{1, knots, 1, {}};
  const RowMajor difference = (RowMajor(1, 3) << weight / h, -2 * weight / h, weight / h).finished();
  for (int k = 0; k + 2 < knots; ++k) {
    const RowMajor force = RowMajor::Constant(1, 1, -weight * h * std::sin(2 * h * k));
    problem.rows.push_back({k, 3, difference, force, VectorXd::Zero(1)});
  }
  for (int k = 0; k < knots; k += 10) {
    problem.rows.push_back({k, 1, RowMajor::Constant(1, 1, reading), RowMajor::Zero(1, 1), VectorXd::Zero(1)});
  }
  Arrowhead a;
  a.reset(1, knots, 1);
  problem.write(a);
  ASSERT_TRUE(a.eliminate());
  a.find_border_response();
  MatrixXd S = MatrixXd::Zero(1, 1);
  for (const auto& each : problem.rows) {
    a.add_information(each.knot, each.states.data(), each.border.data(), 1, each.width, S);
  }
  const double expected = static_cast<double>(exact_schur(problem));
  EXPECT_NEAR(S(0, 0), expected, 2e-6 * expected);
  EXPECT_NEAR(a.schur()(0, 0), expected, 1e-2 * expected);
}

TEST(Arrowhead, PriorsOfTheBorder) {
  Problem problem = random_problem(3, 4, 2, 5);
  Arrowhead a;
  a.reset(3, 4, 2);
  problem.write(a);
  ASSERT_TRUE(a.eliminate());
  const MatrixXd S = a.schur();
  const VectorXd s = a.reduced_gradient();
  const double cost = a.cost();
  const MatrixXd H = (MatrixXd(2, 2) << 3, 1, 1, 2).finished();
  a.add_border(H, VectorXd::Constant(2, 0.5), 7);
  ASSERT_TRUE(a.eliminate());
  EXPECT_LT((a.schur() - S - H).norm(), 1e-12 * S.norm());
  EXPECT_LT((a.reduced_gradient() - s - VectorXd::Constant(2, 0.5)).norm(), 1e-12);
  EXPECT_NEAR(a.cost(), cost + 7, 1e-12 * cost);
}

// Columns of zeros are left out, wherever they are: the same numbers come of it.
TEST(Arrowhead, ZeroBlocksAreSkipped) {
  Random random(6);
  for (int trial = 0; trial < 30; ++trial) {
    Problem problem = random_problem(13, 5, 9, 6);
    for (auto& each : problem.rows) {
      for (int j = 0; j < each.states.cols(); ++j) {
        if (random.uniform() < 0.6)
          each.states.middleCols(j / 4 * 4, std::min<int>(4, each.states.cols() - j / 4 * 4)).setZero();
      }
      if (random.uniform() < 0.5) each.border.setZero();
      if (random.uniform() < 0.2) each.residual.setZero();
    }
    for (int k = 0; k < 5; ++k) {
      problem.rows.push_back({k, 1, RowMajor::Identity(13, 13), RowMajor::Zero(13, 9), VectorXd::Ones(13)});
    }
    const Dense dense(problem);
    Arrowhead a;
    a.reset(13, 5, 9);
    problem.write(a);
    for (int k = 0; k < 5; ++k) EXPECT_LT((a.gradient(k) - dense.g.segment(13 * k, 13)).norm(), 1e-11);
    EXPECT_LT((a.border_information() - dense.H.bottomRightCorner(9, 9)).norm(), 1e-11);
    ASSERT_TRUE(a.eliminate(1e-3));
    a.substitute(VectorXd::Zero(9));
    MatrixXd H = dense.damped(1e-3).topLeftCorner(65, 65);
    const VectorXd expected = H.ldlt().solve(-dense.g.head(65));
    for (int k = 0; k < 5; ++k) EXPECT_LT((a.step(k) - expected.segment(13 * k, 13)).norm(), 1e-7 * expected.norm());
  }
}

TEST(Arrowhead, WithoutABorderGivenItsRowsAreZero) {
  Random random(7);
  Arrowhead a;
  a.reset(2, 3, 2);
  const RowMajor J = random_matrix(random, 9, 6);
  const VectorXd r = VectorXd::Ones(9);
  a.add_rows(0, J.data(), nullptr, r.data(), 9);
  ASSERT_TRUE(a.eliminate());
  EXPECT_EQ(a.schur().norm(), 0);
  EXPECT_EQ(a.reduced_gradient().norm(), 0);
}

// Steps of equal size: what ties the knots to each other says nothing of where they all are.
TEST(Arrowhead, ASingularDirectionIsNamed) {
  const int n = 6, knots = 9, floating = 4;
  Arrowhead a;
  a.reset(n, knots, 1);
  RowMajor tie = RowMajor::Zero(n, 2 * n), anchor = RowMajor::Zero(n, n);
  tie.leftCols(n).setIdentity(), tie.rightCols(n) = -RowMajor::Identity(n, n);
  tie.row(floating) << 0, 1, 0, 0, 1, 0, 0, -1, 0, 0, -1, 0;  // unknown 4 goes with unknown 1
  anchor.setIdentity();
  anchor.row(floating).setZero();
  const VectorXd r = VectorXd::Zero(n);
  for (int k = 0; k + 1 < knots; ++k) a.add_rows(k, tie.data(), nullptr, r.data(), n, 2);
  EXPECT_FALSE(a.eliminate());
  EXPECT_EQ(a.worst_pivot().knot, knots - 1);
  EXPECT_EQ(a.worst_pivot().unknown, 0);
  a.add_rows(3, anchor.data(), nullptr, r.data(), n, 1);
  EXPECT_FALSE(a.eliminate());
  EXPECT_EQ(a.worst_pivot().knot, knots - 1);
  EXPECT_EQ(a.worst_pivot().unknown, floating);
  EXPECT_LT(a.worst_pivot().share, 1e-14);
  a.find_undetermined_direction();
  for (int k = 0; k < knots; ++k) {
    EXPECT_LT((a.step(k) - VectorXd::Unit(n, floating)).norm(), 1e-12) << k << a.step(k).transpose();
  }
  EXPECT_TRUE(a.eliminate(1e-6));  // damping makes up for it
}

TEST(Arrowhead, AnUnknownWithoutRowsIsNamedAtItsKnot) {
  Problem problem = random_problem(5, 4, 2, 8);
  for (auto& each : problem.rows) {
    const int block = 2 - each.knot;  // of knot 2
    if (block >= 0 && block < each.width) each.states.col(block * 5 + 3).setZero();
  }
  Arrowhead a;
  a.reset(5, 4, 2);
  problem.write(a);
  EXPECT_FALSE(a.eliminate());
  EXPECT_EQ(a.worst_pivot().knot, 2);
  EXPECT_EQ(a.worst_pivot().unknown, 3);
  a.find_undetermined_direction();
  EXPECT_LT((a.step(2) - VectorXd::Unit(5, 3)).norm(), 1e-12);
  EXPECT_LT(a.step(1).norm(), 1e-12);
  EXPECT_TRUE(a.eliminate(1e-3));
  a.substitute(VectorXd::Zero(2));
  EXPECT_EQ(a.step(2)[3], 0);
}

TEST(Arrowhead, NumbersThatAreNotFiniteAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity}) {
    for (int where = 0; where < 3; ++where) {
      Problem problem = random_problem(4, 5, 2, 9);
      auto& rows = problem.rows[3];
      (where == 0 ? rows.states(0, 1) : where == 1 ? rows.border(1, 0) : rows.residual(0)) = bad;
      Arrowhead a;
      a.reset(4, 5, 2);
      problem.write(a);
      EXPECT_FALSE(a.eliminate()) << bad << where;
    }
  }
}

TEST(Arrowhead, NothingAllocatesAndNothingIsLeftOver) {
  const Problem problem = random_problem(12, 20, 5, 10), small = random_problem(5, 8, 2, 11);
  const VectorXd chi = VectorXd::Constant(5, 0.1), chi_small = VectorXd::Constant(2, 0.1);
  Arrowhead a, fresh;
  a.reset(12, 20, 5);
  fresh.reset(5, 8, 2);
  small.write(fresh);
  ASSERT_TRUE(fresh.eliminate(0.5));
  fresh.substitute(chi_small);
  problem.write(a);
  ASSERT_TRUE(a.eliminate(1));
  const long before = test::allocations();
  for (int repeat = 0; repeat < 3; ++repeat) {
    a.clear();
    problem.write(a);
    a.eliminate(0.01 * repeat);
    a.substitute(chi);
  }
  if (test::allocations_are_counted()) {
    EXPECT_EQ(test::allocations(), before);
  }
  a.reset(5, 8, 2);
  small.write(a);
  ASSERT_TRUE(a.eliminate(0.5));
  a.substitute(chi_small);
  for (int k = 0; k < 8; ++k) EXPECT_EQ(a.step(k), fresh.step(k));  // to the bit
  EXPECT_EQ(a.schur(), fresh.schur());
}

}  // namespace
}  // namespace kinegraph::linear::arrowhead_test
