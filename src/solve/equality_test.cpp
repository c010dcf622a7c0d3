// Hard equalities: problems with published answers, badly started assemblies, and what cannot be solved.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kinegraph/solve/diagnose.hpp"
#include "kinegraph/solve/factors_test.hpp"
#include "kinegraph/solve/optimizer.hpp"

namespace kinegraph::equality_test {
namespace {

using namespace testing_solve;

struct Problem {
  std::string name;
  Graph graph;
  Values values;
  double answer;           // Σ r² at the solution
  bool determined = true;  // Gauss-Newton's matrix has full rank at the start
};

template <int n, int costs, int rows, class Cost, class Hard>
Problem problem(std::string name, std::array<double, n> start, double answer, Cost cost, Hard hard) {
  Problem p{std::move(name), {}, {}, answer};
  p.values.insert(user(0), Eigen::VectorXd(Eigen::Map<Eigen::Matrix<double, n, 1>>(start.data())));
  p.graph.add(formula<costs, n>("cost", [cost](auto x, auto* r) { cost(x[0], r); }), {user(0)});
  p.graph.add(formula<rows, n>("hard", [hard](auto x, auto* r) { hard(x[0], r); }), {user(0)}, Role::equality);
  return p;
}

/// The least-squares problems with equalities among those of Hock and Schittkowski (1981), by their numbers.
std::vector<Problem> published() {
  const double root = std::sqrt(2.0);
  const auto chain = [](auto x, auto* r) {
    r[0] = x[0] - x[1];
    r[1] = x[2] - 1.0;
    r[2] = (x[3] - 1.0) * (x[3] - 1.0);
    r[3] = pow(x[4] - 1.0, 3);
  };
  std::vector<Problem> all;
  all.push_back(problem<2, 1, 1>(
      "6", {-1.2, 1}, 0, [](auto x, auto* r) { r[0] = 1.0 - x[0]; },
      [](auto x, auto* r) { r[0] = 10.0 * (x[1] - x[0] * x[0]); }));
  all.push_back(problem<3, 2, 1>(
      "26", {-2.6, 2, 2}, 0, [](auto x, auto* r) { r[0] = x[0] - x[1], r[1] = (x[1] - x[2]) * (x[1] - x[2]); },
      [](auto x, auto* r) { r[0] = (1.0 + x[1] * x[1]) * x[0] + pow(x[2], 4) - 3.0; }));
  all.back().determined = false;
  all.push_back(problem<4, 4, 2>(
      "42", {1, 1, 1, 1}, 28 - 10 * root,
      [](auto x, auto* r) {
        for (int i = 0; i < 4; ++i) r[i] = x[i] - double(i + 1);
      },
      [](auto x, auto* r) { r[0] = x[0] - 2.0, r[1] = x[2] * x[2] + x[3] * x[3] - 2.0; }));
  all.push_back(problem<5, 4, 2>("46", {root / 2, 1.75, 0.5, 2, 2}, 0, chain, [](auto x, auto* r) {
    r[0] = x[0] * x[0] * x[3] + sin(x[3] - x[4]) - 1.0;
    r[1] = x[1] + pow(x[2], 4) * x[3] * x[3] - 2.0;
  }));
  all.push_back(problem<5, 4, 2>("49", {10, 7, 2, -3, 0.8}, 0, chain, [](auto x, auto* r) {
    r[0] = x[0] + x[1] + x[2] + 4.0 * x[3] - 7.0;
    r[1] = x[2] + 5.0 * x[4] - 6.0;
  }));
  all.push_back(problem<5, 4, 3>(
      "52", {2, 2, 2, 2, 2}, 1859.0 / 349,
      [](auto x, auto* r) { r[0] = 4.0 * x[0] - x[1], r[1] = x[1] + x[2] - 2.0, r[2] = x[3] - 1.0, r[3] = x[4] - 1.0; },
      [](auto x, auto* r) { r[0] = x[0] + 3.0 * x[1], r[1] = x[2] + x[3] - 2.0 * x[4], r[2] = x[1] - x[4]; }));
  all.push_back(problem<5, 5, 2>(
      "77", {2, 2, 2, 2, 2}, 0.24150513,
      [chain](auto x, auto* r) {
        chain(x, r + 1);
        r[0] = x[0] - 1.0;
      },
      [root](auto x, auto* r) {
        r[0] = x[0] * x[0] * x[3] + sin(x[3] - x[4]) - 2 * root;
        r[1] = x[1] + pow(x[2], 4) * x[3] * x[3] - 8.0 - root;
      }));
  all.push_back(problem<5, 5, 3>(
      "79", {2, 2, 2, 2, 2}, 0.0787768209,
      [](auto x, auto* r) {
        r[0] = x[0] - 1.0, r[1] = x[0] - x[1], r[2] = x[1] - x[2];
        r[3] = (x[2] - x[3]) * (x[2] - x[3]), r[4] = (x[3] - x[4]) * (x[3] - x[4]);
      },
      [root](auto x, auto* r) {
        r[0] = x[0] + x[1] * x[1] + pow(x[2], 3) - 2.0 - 3 * root;
        r[1] = x[1] - x[2] * x[2] + x[3] + 2.0 - 2 * root;
        r[2] = x[0] * x[4] - 2.0;
      }));
  return all;
}

TEST(Equality, PublishedProblemsReachTheirPublishedAnswers) {
  for (const Problem& p : published()) {
    for (const Method method : kMethods) {
      if (method == Method::gauss_newton && !p.determined) continue;
      Values values = p.values;
      OptimizerOptions options;
      options.method = method;
      const auto report = optimize(p.graph, values, options);
      ASSERT_TRUE(report) << report.failure().to_string();
      EXPECT_TRUE(report->converged()) << p.name << " method " << int(method) << " " << report->to_string();
      EXPECT_NEAR(2 * report->cost_after, p.answer, 1e-8 * (1 + p.answer)) << p.name << " method " << int(method);
      EXPECT_LT(report->hard_after, 2e-11) << p.name << " method " << int(method);
    }
  }
}

TEST(Equality, RosenbrockOnALine) {
  // (1 − x)² + 100 (y − x²)² under x + y = 1: y = 1 − x leaves a quartic in x, whose minimum Newton's method finds.
  double x = 0.6;
  for (int i = 0; i < 50; ++i) {
    const double g = 1 - x - x * x;
    x -= (-2 * (1 - x) - 200 * g * (1 + 2 * x)) / (2 + 200 * (1 + 2 * x) * (1 + 2 * x) - 400 * g);
  }
  Problem p = problem<2, 2, 1>(
      "rosenbrock", {0, 3}, 0, [](auto v, auto* r) { r[0] = 1.0 - v[0], r[1] = 10.0 * (v[1] - v[0] * v[0]); },
      [](auto v, auto* r) { r[0] = v[0] + v[1] - 1.0; });
  for (const Method method : kMethods) {
    Values values = p.values;
    OptimizerOptions options;
    options.method = method;
    const auto report = optimize(p.graph, values, options);
    EXPECT_TRUE(report->converged()) << report->to_string();
    EXPECT_NEAR(values.at(user(0))[0], x, 1e-9);
    EXPECT_NEAR(values.at(user(0))[1], 1 - x, 1e-9);
  }
}

TEST(Equality, ProjectsToAnEllipseFromOutsideAndInside) {
  // x²/4 + y² = 1. A point of the ellipse plus a multiple of its normal has that point as its nearest.
  const double angle = 0.8;
  const Eigen::Vector2d foot(2 * std::cos(angle), std::sin(angle));
  const Eigen::Vector2d normal = Eigen::Vector2d(foot.x() / 4, foot.y()).normalized();
  for (const double distance : {3.0, 0.5, -0.3}) {
    for (const Method method : kMethods) {
      const Eigen::VectorXd point = foot + distance * normal;
      Graph graph;
      graph.add(prior("near", point), {user(0)});
      graph.add(
          formula<1, 2>("ellipse", [](auto x, auto* r) { r[0] = x[0][0] * x[0][0] / 4.0 + x[0][1] * x[0][1] - 1.0; }),
          {user(0)}, Role::equality);
      Values values;
      values.insert(user(0), point);
      OptimizerOptions options;
      options.method = method;
      const auto report = optimize(graph, values, options);
      EXPECT_TRUE(report->converged()) << report->to_string();
      EXPECT_LT((values.vector(user(0)) - foot).norm(), 3e-7) << distance << " method " << int(method);
      EXPECT_LT(report->hard_after, 1e-13);
    }
  }
}

/// A four-bar: pivots at (0, 0) and (4, 0), bars of given lengths, its two moving points in one variable.
std::shared_ptr<const Factor> four_bar(double a, double b, double c) {
  return formula<3, 4>("bar", [=](auto x, auto* r) {
    const auto q = x[0];
    const auto square = [](const auto& v) { return v * v; };
    r[0] = square(q[0]) + square(q[1]) - a * a;
    r[1] = square(q[2] - q[0]) + square(q[3] - q[1]) - b * b;
    r[2] = square(q[2] - 4.0) + square(q[3]) - c * c;
  });
}

TEST(Equality, FourBarsAssembleFromAnywhere) {
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> uniform(-5, 5);
  int assembled = 0, nearest = 0;
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    const Eigen::VectorXd start = Eigen::VectorXd::NullaryExpr(4, [&] { return uniform(engine); });
    Graph free;
    free.add(four_bar(1, 2, 3), {user(0)}, Role::equality);
    Graph drawn = free;
    drawn.add(prior("drawn", start), {user(0)});
    for (const Graph* graph : {&free, &drawn}) {
      Values values;
      values.insert(user(0), start);
      const auto report = optimize(*graph, values);
      ASSERT_TRUE(report);
      if (report->converged() && report->hard_after < 1e-11) ++(graph == &free ? assembled : nearest);
    }
  }
  EXPECT_GE(assembled, kTries * 99 / 100);
  EXPECT_GE(nearest, kTries * 98 / 100);
}

TEST(Equality, AStartInLineIsNoObstacle) {
  // All bars along the ground: Φ_q has dependent rows, and the closure is open by 0.5.
  Graph graph;
  graph.add(four_bar(1, 2, 1.5), {user(0)}, Role::equality);
  const Eigen::Vector4d start(1, 0, 3, 0);
  graph.add(prior("drawn", Eigen::VectorXd(start)), {user(0)});
  Values values;
  values.insert(user(0), Eigen::VectorXd(start + Eigen::Vector4d(0, 1e-3, 0, -1e-3)));
  const auto report = optimize(graph, values);
  EXPECT_TRUE(report->converged()) << report->to_string();
  EXPECT_LT(report->hard_after, 1e-11);
}

TEST(Equality, SaysWhichRowCannotHoldAndByHowMuch) {
  // 1 + 1 + 1 cannot span 4.
  for (const Method method : {Method::levenberg_marquardt, Method::dogleg}) {
    Graph graph;
    graph.add(four_bar(1, 1, 1), {user(0)}, Role::equality);
    graph.add(prior("drawn", Eigen::VectorXd(Eigen::Vector4d(1, 0.5, 3, 0.2))), {user(0)});
    Values values;
    values.insert(user(0), Eigen::VectorXd(Eigen::Vector4d(1, 0.5, 3, 0.2)));
    OptimizerOptions options;
    options.method = method;
    const auto report = optimize(graph, values, options);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->status, Status::infeasible) << report->to_string();
    EXPECT_NEAR(report->hard_after, 1.8, 0.1);  // the middle bar takes most of it
    EXPECT_EQ(report->message.substr(0, 18), "cannot bring 'bar[");
    EXPECT_TRUE(values.vector(user(0)).allFinite());
  }
}

TEST(Equality, RedundantRowsDoNoHarmAndAreNamed) {
  Graph graph;
  graph.add(four_bar(1, 2, 3), {user(0)}, Role::equality);
  graph.add(four_bar(1, 2, 3), {user(0)}, Role::equality);
  graph.add(prior("drawn", Eigen::VectorXd(Eigen::Vector4d(0.5, 1, 2, 2))), {user(0)});
  Values plain, values;
  for (Values* v : {&plain, &values}) v->insert(user(0), Eigen::VectorXd(Eigen::Vector4d(0.5, 1, 2, 2)));
  Graph once;
  once.add(graph[0].factor, graph[0].keys, Role::equality);
  once.add(graph[2].factor, graph[2].keys);
  ASSERT_TRUE(optimize(once, plain)->converged());
  const auto report = optimize(graph, values);
  EXPECT_TRUE(report->converged()) << report->to_string();
  EXPECT_LT(report->hard_after, 1e-12);
  EXPECT_LT((values.vector(user(0)) - plain.vector(user(0))).norm(), 1e-6);

  const auto diagnosis = diagnose(graph, values);
  ASSERT_TRUE(diagnosis);
  EXPECT_TRUE(diagnosis->determined());
  EXPECT_EQ(diagnosis->redundant.size(), 3u);
  EXPECT_EQ(diagnosis->redundant[0], "'bar[0] (user0@0)'");
}

TEST(Equality, ContradictionsAreNamed) {
  Graph graph;
  graph.add(prior("one", 1.0), {user(0)}, Role::equality);
  graph.add(prior("two", 2.0), {user(0)}, Role::equality);
  Values values;
  values.insert(user(0), 0.0);
  const auto report = optimize(graph, values);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, Status::infeasible) << report->to_string();
  const auto diagnosis = diagnose(graph, values);
  ASSERT_EQ(diagnosis->contradictory.size(), 1u);
  EXPECT_EQ(diagnosis->contradictory[0], "'two[0] (user0@0)' contradicts 'one[0] (user0@0)' by 1");
}

TEST(Equality, AHardRowAmongKnownValuesMustHold) {
  Graph graph;
  graph.add(prior("length", 1.0), {user(0)}, Role::equality);
  graph.add(prior("other", 1.0), {user(1)});
  graph.known().insert(user(0));
  Values values;
  values.insert(user(0), 1.5);
  values.insert(user(1), 0.0);
  const auto report = optimize(graph, values);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, Status::infeasible);
  EXPECT_EQ(report->message, "length[0] (user0@0) is 0.5, not 0, and all its variables are known");
}

TEST(Equality, LargeAndSmallUnitsMix) {
  // A stiff cost (σ = 1e-7), rows in units of 1e6 and 1e-6: the same answer as in balanced units.
  for (const Method method : kMethods) {
    Graph graph;
    graph.add(prior("stiff", 1.0), {user(0)}, Role::cost, Noise::isotropic(1e-7));
    graph.add(prior("weak", 0.0), {user(1)}, Role::cost, Noise::isotropic(1e3));
    graph.add(formula<1, 1, 1>("large", [](auto x, auto* r) { r[0] = 1e6 * (x[0][0] * x[0][0] - x[1][0]); }),
              {user(0), user(1)}, Role::equality);
    graph.add(formula<1, 1, 1>("small", [](auto x, auto* r) { r[0] = 1e-6 * (x[0][0] - 3.0 * x[1][0]); }),
              {user(2), user(1)}, Role::equality);
    Values values;
    for (int i = 0; i < 3; ++i) values.insert(user(i), 0.3 * i - 0.5);
    OptimizerOptions options;
    options.method = method;
    const auto report = optimize(graph, values, options);
    EXPECT_TRUE(report->converged()) << report->to_string();
    EXPECT_NEAR(values.at(user(0))[0], 1, 1e-11) << int(method);
    EXPECT_NEAR(values.at(user(1))[0], 1, 1e-11);
    EXPECT_NEAR(values.at(user(2))[0], 3, 1e-10);
  }
}

}  // namespace
}  // namespace kinegraph::equality_test
