#include "kinegraph/linear/lcp.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kinegraph/linear/allocations_test.hpp"
#include "kinegraph/linear/lcp_problems_test.hpp"

namespace kinegraph::linear::lcp_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::Problem;

void expect_answer(Lemke& lemke, const Problem& p) {
  VectorXd z;
  ASSERT_TRUE(lemke.solve(p.M, p.q, z));
  EXPECT_LT(test::residual(p, z), 1e-10);
  EXPECT_GE(z.minCoeff(), 0);
  EXPECT_LE(lemke.residual(), 1e-10);
}

TEST(Lemke, a_problem_by_hand) {
  // Murty's: z = (4/3, 7/3)
  const Problem p{MatrixXd{{2, 1}, {1, 2}}, VectorXd{{-5, -6}}};
  Lemke lemke;
  VectorXd z;
  ASSERT_TRUE(lemke.solve(p.M, p.q, z));
  EXPECT_NEAR(z[0], 4.0 / 3, 1e-14);
  EXPECT_NEAR(z[1], 7.0 / 3, 1e-14);
  EXPECT_EQ(lemke.pivots(), 3);
  EXPECT_EQ(lemke.basis(), (std::vector<char>{1, 1}));
  EXPECT_GT(lemke.distance_to_switch(), 0.1);
}

TEST(Lemke, nothing_pushes) {
  Lemke lemke;
  VectorXd z;
  ASSERT_TRUE(lemke.solve(MatrixXd{{-1, 3}, {0, -2}}, VectorXd{{1, 0}}, z));
  EXPECT_EQ(z, VectorXd::Zero(2));
  EXPECT_EQ(lemke.pivots(), 0);
  ASSERT_TRUE(lemke.solve(MatrixXd(0, 0), VectorXd(0), z));
  EXPECT_EQ(z.size(), 0);
}

TEST(Lemke, rounding_in_q_is_no_push) {
  // A contact that opens while its tangents are at rest, as a simulation met it: a ray if −2e-16 is taken for a push
  MatrixXd M = MatrixXd::Zero(6, 6);
  M(0, 0) = 0.27;
  M.block<4, 4>(1, 1).diagonal().setConstant(0.96);
  M(1, 3) = M(3, 1) = M(2, 4) = M(4, 2) = -0.96;
  M.col(5).segment<4>(1).setOnes();
  M.row(5) << 0.33, -1, -1, -1, -1, 0;
  Lemke lemke;
  VectorXd z;
  ASSERT_TRUE(lemke.solve(M, VectorXd{{0.24, -2.2e-16, 2.2e-16, 2.2e-16, -2.2e-16, 0}}, z));
  EXPECT_EQ(z, VectorXd::Zero(6));
}

TEST(Lemke, random_problems_of_every_kind) {
  for (int k = 0; k < 200; ++k) {
    Random random(7, k);
    const int n = 1 + random.below(24);
    Lemke lemke;
    SCOPED_TRACE(k);
    expect_answer(lemke, test::definite(random, n));
    expect_answer(lemke, test::p_matrix(random, n));
    expect_answer(lemke, test::semidefinite(random, n));
    expect_answer(lemke, test::copositive(random, n));
    expect_answer(lemke, test::frictional(random, 1 + random.below(4), random.below(2) ? 4 : 8));
    expect_answer(lemke, test::frictional(random, 1 + random.below(4), 2, 1e-9));
  }
}

TEST(Lemke, many_contacts_on_one_body) {
  // Far more rows than freedoms: nothing but the regularisation tells the multipliers apart
  int answers = 0;
  for (int k = 0; k < 100; ++k) {
    Random random(16, k);
    const Problem p = test::frictional(random, 8, 4, 1e-6, 1);
    Lemke lemke;
    VectorXd z;
    answers += lemke.solve(p.M, p.q, z) && test::residual(p, z) < 1e-9;
  }
  EXPECT_EQ(answers, 100);
}

TEST(Lemke, units_do_not_matter) {
  for (int k = 0; k < 50; ++k) {
    Random random(8, k);
    const Problem p = test::frictional(random, 3, 4);
    VectorXd unit(p.q.size()), z, scaled;
    for (double& u : unit) u = std::pow(10.0, random.uniform(-5, 5));
    Lemke lemke, other;
    ASSERT_TRUE(lemke.solve(p.M, p.q, z));
    ASSERT_TRUE(other.solve(MatrixXd(unit.asDiagonal() * p.M * unit.asDiagonal()),
                            VectorXd(1e7 * unit.cwiseProduct(p.q)), scaled));
    EXPECT_LT((unit.cwiseProduct(scaled) / 1e7 - z).lpNorm<Eigen::Infinity>(), 1e-8 * z.lpNorm<Eigen::Infinity>()) << k;
  }
}

/// min cᵀx, A x ≤ b, x ≥ 0 with its dual: M = [0 Aᵀ; −A 0], q = [c; b].
Problem linear_program(const MatrixXd& A, const VectorXd& b, const VectorXd& c) {
  const auto m = A.rows(), n = A.cols();
  Problem p{MatrixXd::Zero(m + n, m + n), VectorXd(m + n)};
  p.M.topRightCorner(n, m) = A.transpose();
  p.M.bottomLeftCorner(m, n) = -A;
  p.q << c, b;
  return p;
}

double value(const MatrixXd& A, const VectorXd& b, const VectorXd& c) {
  Lemke lemke;
  VectorXd z;
  const Problem p = linear_program(A, b, c);
  EXPECT_TRUE(lemke.solve(p.M, p.q, z));
  EXPECT_LT(test::residual(p, z), 1e-12);
  EXPECT_LT(lemke.pivots(), 20);
  return c.dot(z.head(c.size()));
}

TEST(Lemke, programs_on_which_pivots_are_known_to_cycle) {
  // Beale 1955; Chvátal 1983, p. 31; Kuhn (in Balinski and Tucker 1969); Marshall and Suurballe 1969
  EXPECT_NEAR(value(MatrixXd{{.25, -8, -1, 9}, {.5, -12, -.5, 3}, {0, 0, 1, 0}}, VectorXd{{0, 0, 1}},
                    VectorXd{{-.75, 20, -.5, 6}}),
              -1.25, 1e-12);
  EXPECT_NEAR(value(MatrixXd{{.5, -5.5, -2.5, 9}, {.5, -1.5, -.5, 1}, {1, 0, 0, 0}}, VectorXd{{0, 0, 1}},
                    VectorXd{{-10, 57, 9, 24}}),
              -1, 1e-12);
  EXPECT_NEAR(value(MatrixXd{{-2, -9, 1, 9}, {1. / 3, 1, -1. / 3, -2}, {2, 3, -1, -12}}, VectorXd{{0, 0, 2}},
                    VectorXd{{-2, -3, 1, 12}}),
              -2, 1e-12);
}

TEST(Lemke, degenerate_problems_do_not_cycle) {
  Lemke lemke;
  // Murty 1974: simple principal pivoting cycles on it, and every ratio ties
  expect_answer(lemke, {MatrixXd{{1, 2, 0}, {0, 1, 2}, {2, 0, 1}}, VectorXd{{-1, -1, -1}}});
  // Murty 1978: 2ⁿ steps for this covering vector
  const int n = 8;
  Problem murty{MatrixXd::Identity(n, n), VectorXd::Constant(n, -1)};
  for (int i = 0; i < n; ++i) murty.M.row(i).head(i).setConstant(2);
  expect_answer(lemke, murty);
  // Small integers: ties everywhere, ranks lost
  for (int k = 0; k < 300; ++k) {
    Random random(9, k);
    const int size = 2 + random.below(12);
    MatrixXd a(size, std::max(1, size / 2));
    for (double& x : a.reshaped()) x = random.below(3) - 1;
    VectorXd start(size);
    for (double& x : start) x = random.below(2);
    Problem p{a * a.transpose(), {}};
    p.q = -p.M * start;  // w = 0 for z = start
    SCOPED_TRACE(k);
    expect_answer(lemke, p);
  }
}

TEST(Lemke, problems_without_answer_end_on_a_ray) {
  Lemke lemke;
  VectorXd z;
  EXPECT_FALSE(lemke.solve(MatrixXd::Zero(2, 2), VectorXd{{1, -1}}, z));
  EXPECT_TRUE(lemke.ended_on_ray());
  EXPECT_EQ(z, VectorXd::Zero(2));
  // x ≤ −1, x ≥ 0
  const Problem p = linear_program(MatrixXd{{1}}, VectorXd{{-1}}, VectorXd{{1}});
  EXPECT_FALSE(lemke.solve(p.M, p.q, z));
  EXPECT_TRUE(lemke.ended_on_ray());
  // Semidefinite, q outside of what M and the cone reach
  for (int k = 0; k < 50; ++k) {
    Random random(10, k);
    const VectorXd a = test::random_vector(random, 6);
    VectorXd q = a.cwiseAbs();  // x = |a|⁻¹-weighted sum of rows must stay positive: choose q against M's left kernel
    const VectorXd kernel{{std::abs(a[1]), std::abs(a[0])}};
    MatrixXd M = MatrixXd::Zero(6, 6);
    M.topLeftCorner(2, 2) << a[0] * a[0], -std::abs(a[0] * a[1]), -std::abs(a[0] * a[1]), a[1] * a[1];
    q.head(2) = -kernel;  // kernelᵀ w = kernelᵀ q < 0 for every z
    EXPECT_FALSE(lemke.solve(M, q, z)) << k;
    EXPECT_TRUE(lemke.ended_on_ray()) << k;
  }
  EXPECT_FALSE(lemke.solve(MatrixXd::Identity(1, 1), VectorXd::Constant(1, NAN), z));
  EXPECT_FALSE(lemke.ended_on_ray());
}

TEST(Lemke, the_last_basis_is_tried_first) {
  int right = 0;
  for (int k = 0; k < 100; ++k) {
    Random random(11, k);
    Problem p = test::frictional(random, 3, 4);
    Lemke lemke, cold;
    VectorXd z, fresh;
    ASSERT_TRUE(lemke.solve(p.M, p.q, z));
    p.q += 1e-6 * test::random_vector(random, static_cast<int>(p.q.size()));
    ASSERT_TRUE(lemke.solve(p.M, p.q, z));
    right += lemke.pivots() == 0;
    ASSERT_TRUE(cold.solve(p.M, p.q, fresh));
    EXPECT_LT(test::residual(p, z), 1e-10);
    lemke.forget();
    ASSERT_TRUE(lemke.solve(p.M, p.q, z));
    EXPECT_EQ(lemke.pivots(), cold.pivots());
    EXPECT_EQ(z, fresh);
    cold.guess(std::vector<char>(p.q.size(), 1));  // a guess that may be singular
    expect_answer(cold, p);
  }
  EXPECT_GE(right, 95);
}

TEST(Lemke, allocates_nothing_once_it_knows_the_size) {
  if (!test::allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  std::vector<Problem> problems;
  for (int k = 0; k < 30; ++k) {
    Random random(12, k);
    problems.push_back(test::frictional(random, 3, 4));
  }
  Lemke lemke;
  VectorXd z, dz;
  ASSERT_TRUE(lemke.solve(problems[0].M, problems[0].q, z));
  lemke.differentiate(problems[0].M, problems[0].q, z, dz);
  const long before = test::allocations();
  int pivots = 0;
  for (const Problem& p : problems) {
    ASSERT_TRUE(lemke.solve(p.M, p.q, z));
    lemke.differentiate(p.M, p.q, z, dz);
    pivots += lemke.pivots();
  }
  EXPECT_EQ(test::allocations(), before);
  EXPECT_GT(pivots, 100);
}

/// dz against central differences; false where the answer is too near to a switch.
bool compare_derivative(const Problem& p, Random& random) {
  const int n = static_cast<int>(p.q.size());
  const MatrixXd dM = test::random_matrix(random, n, n);
  const VectorXd dq = test::random_vector(random, n);
  Lemke lemke;
  VectorXd z, dz, more, less;
  EXPECT_TRUE(lemke.solve(p.M, p.q, z));
  if (lemke.distance_to_switch() < 1e-4) return false;
  lemke.differentiate(dM, dq, z, dz);
  const double h = 1e-7;
  Lemke other = lemke;
  EXPECT_TRUE(other.solve(p.M + h * dM, p.q + h * dq, more));
  if (other.basis() != lemke.basis()) return false;
  other.guess(lemke.basis());
  EXPECT_TRUE(other.solve(p.M - h * dM, p.q - h * dq, less));
  if (other.basis() != lemke.basis()) return false;
  const VectorXd difference = (more - less) / (2 * h);
  EXPECT_LT((dz - difference).lpNorm<Eigen::Infinity>(), 1e-5 * (1 + dz.lpNorm<Eigen::Infinity>()));
  EXPECT_GT(dz.norm() + (z.array() == 0).all(), 0);
  return true;
}

TEST(Lemke, derivatives_equal_differences_away_from_switches) {
  int p_matrices = 0, contacts = 0;
  for (int k = 0; k < 100; ++k) {
    Random random(13, k);
    SCOPED_TRACE(k);
    p_matrices += compare_derivative(test::p_matrix(random, 2 + random.below(10)), random);
    contacts += compare_derivative(test::frictional(random, 1 + random.below(3), 4, 0.1), random);
  }
  EXPECT_GT(p_matrices, 80);
  EXPECT_GT(contacts, 80);
}

struct Mixed {
  MatrixXd A, C, D, B;
  VectorXd a, b;
};

/// The contact problem before the velocity is eliminated: [M −Bᵀ; B Σ], with a gyroscopic (skew) part in M.
Mixed random_mixed(Random& random, int freedoms, int complementary) {
  Mixed p;
  const Problem inner = test::definite(random, complementary);
  p.A = test::definite(random, freedoms).M;
  p.D = test::random_matrix(random, complementary, freedoms);
  p.C = -p.D.transpose();
  p.B = inner.M;
  p.a = test::random_vector(random, freedoms);
  p.b = inner.q;
  return p;
}

TEST(MixedLcp, answers_and_derivatives) {
  int compared = 0;
  for (int k = 0; k < 100; ++k) {
    Random random(14, k);
    const int f = random.below(8), n = 1 + random.below(8);
    const Mixed p = random_mixed(random, f, n), change = random_mixed(random, f, n);
    MixedLcp mixed;
    VectorXd u, z, du, dz;
    ASSERT_TRUE(mixed.solve(p.A, p.C, p.D, p.B, p.a, p.b, u, z));
    EXPECT_LT((p.A * u + p.C * z + p.a).lpNorm<1>(), 1e-10 * (1 + u.lpNorm<1>() + z.lpNorm<1>()));
    const VectorXd w = p.D * u + p.B * z + p.b;
    EXPECT_LT(z.cwiseMin(w).cwiseAbs().maxCoeff(), 1e-9 * (1 + u.lpNorm<1>() + z.lpNorm<1>()));
    if (mixed.complementary().distance_to_switch() < 1e-4) continue;

    mixed.differentiate(change.A * u + change.C * z + change.a, change.D * u + change.B * z + change.b, du, dz);
    const auto at = [&](double h, VectorXd& u_h, VectorXd& z_h) {
      MixedLcp other = mixed;
      return other.solve(p.A + h * change.A, p.C + h * change.C, p.D + h * change.D, p.B + h * change.B,
                         p.a + h * change.a, p.b + h * change.b, u_h, z_h) &&
             other.complementary().basis() == mixed.complementary().basis();
    };
    const double h = 1e-7;
    VectorXd u1, z1, u0, z0;
    if (!at(h, u1, z1) || !at(-h, u0, z0)) continue;
    ++compared;
    const double size = 1 + du.lpNorm<1>() + dz.lpNorm<1>();
    EXPECT_LT((du - (u1 - u0) / (2 * h)).lpNorm<1>(), 1e-5 * size) << k;
    EXPECT_LT((dz - (z1 - z0) / (2 * h)).lpNorm<1>(), 1e-5 * size) << k;
  }
  EXPECT_GT(compared, 80);
}

TEST(MixedLcp, a_singular_free_part_is_refused) {
  MixedLcp mixed;
  VectorXd u, z;
  const MatrixXd one = MatrixXd::Ones(2, 2), unit = MatrixXd::Identity(2, 2);
  EXPECT_FALSE(mixed.solve(one, unit, unit, unit, VectorXd::Ones(2), VectorXd::Ones(2), u, z));
}

TEST(MixedLcp, allocates_nothing_once_it_knows_the_size) {
  if (!test::allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  std::vector<Mixed> problems;
  for (int k = 0; k < 10; ++k) {
    Random random(15, k);
    problems.push_back(random_mixed(random, 7, 6));
  }
  MixedLcp mixed;
  VectorXd u, z, du, dz;
  const auto run = [&](const Mixed& p) {
    ASSERT_TRUE(mixed.solve(p.A, p.C, p.D, p.B, p.a, p.b, u, z));
    mixed.differentiate(p.a, p.b, du, dz);
  };
  run(problems[0]);
  const long before = test::allocations();
  for (const Mixed& p : problems) run(p);
  EXPECT_EQ(test::allocations(), before);
}

}  // namespace
}  // namespace kinegraph::linear::lcp_test
