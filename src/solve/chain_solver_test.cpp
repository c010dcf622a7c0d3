#include "kinegraph/solve/chain_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

namespace kinegraph::chain_solver_test {
namespace {

/// e = Σ wₛ xₛ over scalar slots.
class Sum final : public Factor {
 public:
  explicit Sum(std::vector<double> weights)
      : Factor("sum", 1, std::vector<int>(weights.size(), 1), dense(1, std::vector<int>(weights.size(), 1))),
        weights_(std::move(weights)) {}
  void evaluate(Slots x, double* residual, double* jacobian) const override {
    residual[0] = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) residual[0] += weights_[i] * x[i][0];
    if (jacobian) std::copy(weights_.begin(), weights_.end(), jacobian);
  }
  bool constant_jacobian() const override { return true; }

 private:
  std::vector<double> weights_;
};

/// a = −sin x: a pendulum.
class Pendulum final : public Factor {
 public:
  Pendulum() : Factor("pendulum", 1, {1, 1}, dense(1, {1, 1})) {}
  void evaluate(Slots x, double* residual, double* jacobian) const override {
    residual[0] = x[1][0] + std::sin(x[0][0]);
    if (jacobian) jacobian[0] = std::cos(x[0][0]), jacobian[1] = 1;
  }
};

constexpr double kStep = 0.1;

std::shared_ptr<Chain> trapezoidal_chain(std::shared_ptr<const Factor> law) {
  auto chain = std::make_shared<Chain>();
  const int x = chain->add_knot_variable({Kind::position, "x", 1});
  const int v = chain->add_knot_variable({Kind::velocity, "v", 1});
  const int a = chain->add_knot_variable({Kind::acceleration, "a", 1});
  chain->add_to_knot(std::move(law), {x, a}, Role::equality);
  const auto rule = std::make_shared<Sum>(std::vector<double>{-1, -kStep / 2, 1, -kStep / 2});
  const auto link = [&](int y, int rate) {
    chain->add_to_link(rule, {{Place::from, y}, {Place::from, rate}, {Place::to, y}, {Place::to, rate}}, Role::cost);
  };
  link(x, v);
  link(v, a);
  return chain;
}

void start(ChainSolver& solver, double x, double a) {
  solver.reset();
  solver.touch();
  solver.advance();
  solver.knot(0)[0] = x;
  solver.knot(0)[1] = 0;
  solver.knot(0)[2] = a;
}

TEST(ChainSolver, FollowsTheTrapezoidalRecursionForAnyWindow) {
  // ẍ = −x under the trapezoidal rule turns by 2 atan(h/2) per step.
  const double turn = 2 * std::atan(kStep / 2);
  for (int window : {2, 3, 10, 60}) {
    ChainSolver solver(trapezoidal_chain(std::make_shared<Sum>(std::vector<double>{1, 1})), window);
    start(solver, 1, -1);
    for (int k = 1; k <= 50; ++k) {
      solver.advance();
      ASSERT_TRUE(solver.solve().converged);
      EXPECT_NEAR(solver.knot(solver.knots() - 1)[0], std::cos(k * turn), 1e-12) << "window " << window;
      EXPECT_NEAR(solver.knot(solver.knots() - 1)[1], -std::sin(k * turn), 1e-12);
    }
  }
}

TEST(ChainSolver, HardRowsHoldAndNonlinearLawsConverge) {
  ChainSolver narrow(trapezoidal_chain(std::make_shared<Pendulum>()), 2);
  ChainSolver wide(trapezoidal_chain(std::make_shared<Pendulum>()), 8);
  start(narrow, 2, -std::sin(2.0));
  start(wide, 2, -std::sin(2.0));
  for (int k = 1; k <= 200; ++k) {
    for (ChainSolver* s : {&narrow, &wide}) {
      s->advance();
      ASSERT_TRUE(s->solve().converged);
      const double* x = s->knot(s->knots() - 1);
      EXPECT_NEAR(x[2], -std::sin(x[0]), 1e-13);
    }
    EXPECT_NEAR(narrow.knot(1)[0], wide.knot(wide.knots() - 1)[0], 1e-11);
  }
}

TEST(ChainSolver, SharesAConflictOutByLeastSquares) {
  // Knot costs pull x to 1 while the link wants x to stay at the frozen 0: a batch of three unknown knots.
  auto chain = std::make_shared<Chain>();
  const int x = chain->add_knot_variable({Kind::position, "x", 1});
  const int one = chain->add_knot_variable({Kind::user, "one", 1, true});
  chain->add_to_knot(std::make_shared<Sum>(std::vector<double>{1, -1}), {x, one}, Role::cost, Noise::isotropic(2));
  chain->add_to_link(std::make_shared<Sum>(std::vector<double>{-1, 1}), {{Place::from, x}, {Place::to, x}}, Role::cost,
                     Noise::isotropic(0.5));
  ChainSolver solver(chain, 4);
  for (int k = 0; k < 4; ++k) {
    solver.advance();
    solver.knot(k)[0] = 0;
    solver.knot(k)[1] = 1;
  }
  ASSERT_TRUE(solver.solve().converged);

  Eigen::Matrix3d h = Eigen::Matrix3d::Identity() / 4;
  h.diagonal() += Eigen::Vector3d(8, 8, 4);
  h(0, 1) = h(1, 0) = h(1, 2) = h(2, 1) = -4;
  const Eigen::Vector3d expected = h.ldlt().solve(Eigen::Vector3d::Constant(0.25));
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(solver.knot(k + 1)[0], expected[k], 1e-12);
}

TEST(ChainSolver, MiddleVariablesAreEliminated) {
  // A middle y = (xₖ + xₖ₊₁)/2 and the cost xₖ₊₁ − 2 y − 1 = −xₖ − 1 … on xₖ₊₁ through y only.
  auto chain = std::make_shared<Chain>();
  const int x = chain->add_knot_variable({Kind::position, "x", 1});
  const int one = chain->add_knot_variable({Kind::user, "one", 1, true});
  const int y = chain->add_middle_variable({Kind::position, "y", 1});
  chain->add_to_link(std::make_shared<Sum>(std::vector<double>{-0.5, -0.5, 1}),
                     {{Place::from, x}, {Place::to, x}, {Place::middle, y}}, Role::equality);
  chain->add_to_link(std::make_shared<Sum>(std::vector<double>{1, -1}), {{Place::middle, y}, {Place::to, one}},
                     Role::cost);
  ChainSolver solver(chain, 2);
  solver.advance();
  solver.knot(0)[0] = 3;
  solver.knot(0)[1] = 1;
  solver.advance();
  ASSERT_TRUE(solver.solve().converged);
  EXPECT_NEAR(solver.knot(1)[0], -1, 1e-12);  // y = 1 = (3 + x)/2
  EXPECT_NEAR(solver.middle(0)[0], 1, 1e-12);
}

TEST(ChainSolver, SaysSoWhenNothingDeterminesAVariable) {
  auto chain = std::make_shared<Chain>();
  chain->add_knot_variable({Kind::position, "x", 1});
  ChainSolver solver(chain, 2);
  solver.advance();
  solver.advance();
  EXPECT_FALSE(solver.solve().converged);
}

}  // namespace
}  // namespace kinegraph::chain_solver_test
