#include "kinegraph/solve/sqp.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "kinegraph/graph/function_factor.hpp"
#include "kinegraph/solve/cart_pole_test.hpp"

namespace kinegraph::sqp_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::CartPole;

Key x(int step) { return {Kind::user, false, 0, step}; }

/// A x + b, slot after slot.
std::shared_ptr<const Factor> linear_factor(const char* name, std::vector<MatrixXd> a, VectorXd b) {
  std::vector<int> sizes;
  for (const MatrixXd& m : a) sizes.push_back(static_cast<int>(m.cols()));
  return std::make_shared<FunctionFactor>(name, static_cast<int>(b.size()), sizes,
                                          [a, b](Slots s, double* r, double* j) {
                                            Eigen::Map<VectorXd> residual(r, b.size());
                                            residual = b;
                                            for (std::size_t i = 0; i < a.size(); ++i) {
                                              residual += a[i] * Eigen::Map<const VectorXd>(s[i], a[i].cols());
                                              if (!j) continue;
                                              std::copy(a[i].data(), a[i].data() + a[i].size(), j);
                                              j += a[i].size();
                                            }
                                          });
}

/// A random convex quadratic program over a chain, and the same as dense matrices:
/// min ½ ‖A x + a‖²,  C x + c = 0,  G x + g ≥ 0
struct QuadraticProgram {
  static constexpr int kSize = 2;
  int knots;
  Graph graph;
  Values values;
  MatrixXd A, C, G;
  VectorXd a, c, g;

  void add(std::mt19937& random, int k, int width, int rows, Role role, double offset) {
    std::normal_distribution<double> normal;
    const auto fill = [&](int r, int n) -> MatrixXd {
      return MatrixXd::NullaryExpr(r, n, [&] { return normal(random); });
    };
    std::vector<MatrixXd> blocks;
    std::vector<Key> keys;
    VectorXd b = fill(rows, 1);
    if (role == Role::inequality) b = b.cwiseAbs() * offset;
    MatrixXd& all = role == Role::cost ? A : role == Role::equality ? C : G;
    VectorXd& constant = role == Role::cost ? a : role == Role::equality ? c : g;
    const Eigen::Index first = all.rows();
    all.conservativeResizeLike(MatrixXd::Zero(first + rows, kSize * knots));
    constant.conservativeResize(first + rows);
    constant.tail(rows) = b;
    for (int i = 0; i < width; ++i) {
      blocks.push_back(fill(rows, kSize));
      keys.push_back(x(k + i));
      all.block(first, kSize * (k + i), rows, kSize) = blocks.back();
    }
    graph.add(linear_factor("row", blocks, b), keys, role);
  }

  QuadraticProgram(unsigned seed, int count) : knots(count) {
    std::mt19937 random(seed);
    for (auto* m : {&A, &C, &G}) m->resize(0, kSize * knots);
    for (int k = 0; k < knots; ++k) {
      values.insert(x(k), VectorXd(VectorXd::Zero(kSize)));
      add(random, k, 1, 2, Role::cost, 0);
      add(random, k, 1, 1, Role::inequality, 0.3);
      if (k + 1 == knots) break;
      add(random, k, 2, 1, Role::cost, 0);
      if (k % 2 == 0) add(random, k, 2, 1, Role::equality, 0);
      if (k % 3 == 0) add(random, k, 2, 1, Role::inequality, 0.3);
    }
  }

  VectorXd point() const { return Eigen::Map<const VectorXd>(values.buffer().data(), kSize * knots); }

  /// The least cost over all sets of active rows: every subset is tried.
  double brute_force() const {
    const int n = kSize * knots, m = static_cast<int>(G.rows());
    double best = INFINITY;
    for (int set = 0; set < (1 << m); ++set) {
      std::vector<int> active;
      for (int i = 0; i < m; ++i) {
        if (set >> i & 1) active.push_back(i);
      }
      const int rows = static_cast<int>(C.rows() + static_cast<Eigen::Index>(active.size()));
      if (rows > n) continue;
      MatrixXd K = MatrixXd::Zero(n + rows, n + rows);
      VectorXd rhs(n + rows);
      MatrixXd J(rows, n);
      VectorXd j(rows);
      J.topRows(C.rows()) = C, j.head(C.rows()) = c;
      for (std::size_t i = 0; i < active.size(); ++i) {
        J.row(C.rows() + static_cast<Eigen::Index>(i)) = G.row(active[i]);
        j[C.rows() + static_cast<Eigen::Index>(i)] = g[active[i]];
      }
      K.topLeftCorner(n, n) = A.transpose() * A;
      K.topRightCorner(n, rows) = J.transpose(), K.bottomLeftCorner(rows, n) = J;
      rhs << -A.transpose() * a, -j;
      const VectorXd s = K.fullPivLu().solve(rhs).head(n);
      if ((C * s + c).size() > 0 && (C * s + c).cwiseAbs().maxCoeff() > 1e-8) continue;
      if ((G * s + g).minCoeff() < -1e-8) continue;
      best = std::min(best, 0.5 * (A * s + a).squaredNorm());
    }
    return best;
  }
};

TEST(Sqp, SolvesQuadraticProgramsAsTryingAllActiveSetsDoes) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    QuadraticProgram p(seed, 5);
    const double expected = p.brute_force();
    ASSERT_TRUE(std::isfinite(expected)) << seed;
    const auto report = minimize(p.graph, p.values);
    ASSERT_TRUE(report && report->converged()) << seed << ": " << report->message;
    EXPECT_NEAR(report->cost, expected, 1e-6 * (1 + expected)) << seed;
  }
}

TEST(Sqp, MeetsTheOptimalityConditions) {
  for (unsigned seed = 10; seed < 16; ++seed) {
    QuadraticProgram p(seed, 40);
    auto solver = Sqp::make(p.graph, p.values);
    const auto report = solver->solve(p.values);
    ASSERT_TRUE(report && report->converged()) << seed << ": " << report->message;
    const VectorXd s = p.point(), &y = solver->duals().equality, &z = solver->duals().inequality;
    const VectorXd slope = p.A.transpose() * (p.A * s + p.a) + p.C.transpose() * y - p.G.transpose() * z;
    EXPECT_LE(slope.cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LE((p.C * s + p.c).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_GE((p.G * s + p.g).minCoeff(), -1e-9);
    EXPECT_GE(z.minCoeff(), 0);
    EXPECT_LE((p.G * s + p.g).cwiseProduct(z).cwiseAbs().maxCoeff(), 1e-7);
  }
}

/// min (x − 2)² + (y − 1)², x = 2y − 1, x²/4 + y² ≤ 1: 1.39346498 at ((√7 − 1)/2, (√7 + 1)/4)
TEST(Sqp, SolvesANonlinearProblemWithAKnownAnswer) {
  Graph graph;
  Values values;
  values.insert(x(0), VectorXd(Eigen::Vector2d(2, 2)));
  graph.add(linear_factor("near", {MatrixXd::Identity(2, 2)}, Eigen::Vector2d(-2, -1)), {x(0)}, Role::cost,
            Noise::isotropic(std::sqrt(0.5)));
  graph.add(linear_factor("line", {Eigen::RowVector2d(1, -2)}, VectorXd::Ones(1)), {x(0)}, Role::equality);
  graph.add(std::make_shared<FunctionFactor>("ellipse", 1, std::vector<int>{2},
                                             [](Slots s, double* r, double* j) {
                                               r[0] = 1 - s[0][0] * s[0][0] / 4 - s[0][1] * s[0][1];
                                               if (j) j[0] = -s[0][0] / 2, j[1] = -2 * s[0][1];
                                             }),
            {x(0)}, Role::inequality);
  const auto report = minimize(graph, values);
  ASSERT_TRUE(report && report->converged()) << report->message;
  EXPECT_NEAR(report->cost, 1.39346498, 1e-6);
  EXPECT_NEAR(values.at(x(0))[0], (std::sqrt(7.0) - 1) / 2, 1e-6);
}

/// A mass that is to rest at 1, with |u| ≤ 1; the duration is a variable of no time.
struct RestToRest {
  static constexpr int kIntervals = 20;
  Graph graph;
  Values values;
  static Key state(int k) { return {Kind::position, false, 0, k}; }
  static Key control(int k) { return {Kind::input, false, 0, k}; }
  static Key duration() { return {Kind::user, false, 0, kNoStep}; }

  /// x' = x + h v + ½ h² u,  v' = v + h u,  h = T / K
  static void motion(Slots s, double* r, double* j) {
    const double h = s[3][0] / kIntervals, v = s[0][1], u = s[1][0];
    r[0] = s[0][0] + h * v + 0.5 * h * h * u - s[2][0];
    r[1] = v + h * u - s[2][1];
    if (!j) return;
    const double all[12] = {1, 0, h, 1, 0.5 * h * h, h, -1, 0, 0, -1, (v + h * u) / kIntervals, u / kIntervals};
    std::copy(all, all + 12, j);
  }

  explicit RestToRest(double start) {
    const auto law = std::make_shared<FunctionFactor>("motion", 2, std::vector<int>{2, 1, 2, 1}, motion);
    const MatrixXd both = Eigen::Vector2d(1, -1);
    values.insert(duration(), start);
    for (int k = 0; k <= kIntervals; ++k) {
      values.insert(state(k), VectorXd(Eigen::Vector2d(double(k) / kIntervals, 0)));
      if (k == kIntervals) break;
      values.insert(control(k), 0.0);
      graph.add(law, {state(k), control(k), state(k + 1), duration()}, Role::equality);
      graph.add(linear_factor("control limit", {both}, VectorXd::Ones(2)), {control(k)}, Role::inequality);
    }
    graph.add(linear_factor("start", {MatrixXd::Identity(2, 2)}, VectorXd::Zero(2)), {state(0)}, Role::equality);
    graph.add(linear_factor("goal", {MatrixXd::Identity(2, 2)}, Eigen::Vector2d(-1, 0)), {state(kIntervals)},
              Role::equality);
    graph.add(linear_factor("duration", {MatrixXd::Identity(1, 1)}, VectorXd::Zero(1)), {duration()});
  }
};

TEST(Sqp, FindsTheLeastDuration) {
  RestToRest p(4);
  const auto report = minimize(p.graph, p.values);
  ASSERT_TRUE(report && report->converged()) << report->message;
  EXPECT_NEAR(p.values.at(RestToRest::duration())[0], 2, 1e-5);  // full on, full off: T = 2 √distance
}

TEST(Sqp, NamesTheConstraintThatCannotHold) {
  RestToRest p(1.5);  // too short
  p.graph.known().insert(RestToRest::duration());
  SqpOptions options;
  options.violation_weight = [](const BoundFactor& f) { return f.factor->name() == "motion" ? 1000.0 : 1.0; };
  const auto report = minimize(p.graph, p.values, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, SqpStatus::infeasible) << report->message;
  ASSERT_FALSE(report->violations.empty());
  EXPECT_NE(report->failure().to_string().find("off by"), std::string::npos);
  EXPECT_EQ(report->failure().exit_status(), 1);
  double goal = 0;
  for (const Violation& v : report->violations) {
    EXPECT_TRUE(v.name.find("motion") == std::string::npos || v.amount < 1e-3) << v.name << " " << v.amount;
    if (v.name.find("goal") == std::string::npos) continue;
    goal = std::max(goal, v.amount);
    EXPECT_EQ(v.step, 20);
  }
  EXPECT_GT(goal, 0.05);
  EXPECT_LE(report->violations.back().amount, report->violations.front().amount);
}

TEST(Sqp, RefusesFactorsAcrossTime) {
  Graph graph;
  Values values;
  for (int k = 0; k < 4; ++k) {
    values.insert(x(k), 0.0);
    graph.add(linear_factor("near", {MatrixXd::Identity(1, 1)}, VectorXd::Ones(1)), {x(k)});
  }
  graph.add(linear_factor("far", {MatrixXd::Identity(1, 1), MatrixXd::Identity(1, 1)}, VectorXd::Ones(1)),
            {x(0), x(3)});
  const auto solver = Sqp::make(graph, values);
  ASSERT_FALSE(solver);
  EXPECT_EQ(solver.failure().to_string(),
            "error: far (user0@0, user0@3): touches steps that are not neighbours; at most two can be tied");
  SqpOptions options;
  options.barrier = -1;
  const auto bad = minimize(Graph(), values, options);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.failure().to_string(), "error: barrier: must be > 0, is -1");
}

TEST(SqpCartPole, TwoSeconds) {
  CartPole c = CartPole::two_seconds();
  const auto report = minimize(c.graph, c.values);
  ASSERT_TRUE(report && report->converged()) << report->message;
  EXPECT_LE(report->cost, 777.03 * 1.001);
  EXPECT_LE(report->violation, 1e-9);
}

TEST(SqpCartPole, SixSeconds) {
  for (bool interpolated : {false, true}) {
    CartPole c = CartPole::six_seconds();
    const double pi = std::numbers::pi;
    if (interpolated) c.interpolate(0, 300, 0, 0, 1, pi), c.interpolate(300, 600, 1, pi, -1, -pi);
    const auto report = minimize(c.graph, c.values);
    ASSERT_TRUE(report && report->converged()) << report->message;
    EXPECT_LE(report->cost, 1419.25 * 1.001);
    EXPECT_LE(report->violation, 1e-9);
  }
}

TEST(SqpCartPole, SameBitsForAnyNumberOfThreads) {
  std::vector<double> reference;
  for (int threads : {1, 2}) {
    CartPole c = CartPole::two_seconds();
    SqpOptions options;
    options.threads = threads;
    ASSERT_TRUE(minimize(c.graph, c.values, options));
    if (threads == 1) reference.assign(c.values.buffer().begin(), c.values.buffer().end());
    EXPECT_TRUE(std::equal(reference.begin(), reference.end(), c.values.buffer().begin()));
  }
}

TEST(SqpCartPole, PlansAgainFromAChangedStart) {
  CartPole c = CartPole::two_seconds(true);
  auto solver = Sqp::make(c.graph, c.values);
  const auto first = solver->solve(c.values);
  ASSERT_TRUE(first && first->converged());
  c.values.at(CartPole::q(0))[0] = 0.02;
  c.values.at(CartPole::q(0))[1] = 0.05;
  const auto again = solver->solve(c.values, {}, true);
  ASSERT_TRUE(again && again->converged()) << again->message;
  EXPECT_LE(again->iterations, 15);
  EXPECT_LT(again->iterations, first->warm_iterations + first->iterations);
  EXPECT_EQ(again->warm_iterations, 0);
  EXPECT_LE(again->violation, 1e-9);
}

TEST(SqpCartPole, RedundantRowsAreBorne) {
  CartPole c = CartPole::two_seconds();
  c.graph.add(CartPole::equals("goal once more", 1, std::numbers::pi), {CartPole::q(200)}, Role::equality);
  const auto report = minimize(c.graph, c.values);
  ASSERT_TRUE(report && report->converged()) << report->message;
  EXPECT_LE(report->violation, 1e-9);
  EXPECT_LE(report->cost, 777.03 * 1.001);
}

TEST(SqpCartPole, KeepsALimitOnTheForce) {
  CartPole c = CartPole::two_seconds();
  const MatrixXd both = Eigen::Vector2d(1, -1);
  for (int k = 0; k <= 200; ++k) {
    c.graph.add(linear_factor("force limit", {both}, VectorXd::Constant(2, 100)), {CartPole::u(k)}, Role::inequality);
  }
  const auto report = minimize(c.graph, c.values);
  ASSERT_TRUE(report && report->converged()) << report->message;
  EXPECT_LE(report->violation, 1e-9);
  double largest = 0;
  for (int k = 0; k <= 200; ++k) largest = std::max(largest, std::abs(c.values.at(CartPole::u(k))[0]));
  EXPECT_LE(largest, 100 + 1e-9);
  EXPECT_GE(largest, 99.9);  // the free plan needs more than 130 N
}

TEST(SqpCartPole, SoftDynamicsCheat) {
  CartPole hard = CartPole::two_seconds(), soft = CartPole::two_seconds();
  Graph graph;  // the same with σ = 1e-3 on what was hard
  for (const BoundFactor& f : soft.graph.factors()) {
    graph.add(f.factor, f.keys, f.role, f.role == Role::equality ? Noise::isotropic(1e-3) : f.noise, f.loss);
  }
  SqpOptions options;
  const auto exact = minimize(hard.graph, hard.values, options);
  soft.values = hard.values;
  options.soft_equalities = true;
  const auto report = minimize(graph, soft.values, options);
  ASSERT_TRUE(exact && report);
  EXPECT_TRUE(report->converged()) << report->message;
  EXPECT_LT(report->cost, exact->cost);
  EXPECT_GT(report->violation, 1e-6);
}

TEST(SqpCartPole, TellsEveryIterationAndCanBeStopped) {
  CartPole c = CartPole::two_seconds();
  SqpOptions options;
  int told = 0;
  options.on_iteration = [&](const SqpIteration& i) { told += std::isfinite(i.cost) && i.violation >= 0; };
  options.progress = [&](double) { return told < 5; };
  const auto report = minimize(c.graph, c.values, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, SqpStatus::interrupted);
  EXPECT_EQ(told, 5);
  EXPECT_EQ(report->failure().exit_status(), 130);
}

}  // namespace
}  // namespace kinegraph::sqp_test
