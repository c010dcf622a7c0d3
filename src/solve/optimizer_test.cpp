#include "kinegraph/solve/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kinegraph/solve/factors_test.hpp"

namespace kinegraph::optimizer_test {
namespace {

using namespace testing_solve;

Eigen::VectorXd vector(std::initializer_list<double> x) {
  return Eigen::Map<const Eigen::VectorXd>(x.begin(), static_cast<Eigen::Index>(x.size()));
}

class EachMethod : public testing::TestWithParam<Method> {
 protected:
  Report solve(const Graph& graph, Values& values) {
    OptimizerOptions options;
    options.method = GetParam();
    options.max_iterations = 200;
    const auto report = optimize(graph, values, options);
    EXPECT_TRUE(report) << report.failure().to_string();
    return *report;
  }
};
INSTANTIATE_TEST_SUITE_P(Optimizers, EachMethod, testing::ValuesIn(kMethods), [](const auto& info) {
  switch (info.param) {
    case Method::gauss_newton:
      return "GaussNewton";
    case Method::levenberg_marquardt:
      return "LevenbergMarquardt";
    case Method::dogleg:
      return "Dogleg";
  }
  return "";
});

std::shared_ptr<const Factor> on_circle(double px, double py) {
  return formula<1, 3>("on circle", [px, py](auto c, auto* r) {
    const auto dx = c[0][0] - px, dy = c[0][1] - py;
    r[0] = sqrt(dx * dx + dy * dy) - c[0][2];
  });
}

TEST_P(EachMethod, FitsACircle) {
  Graph graph;
  for (int i = 0; i < 7; ++i) {
    graph.add(on_circle(2 + 1.5 * std::cos(0.9 * i), -1 + 1.5 * std::sin(0.9 * i)), {user(0)}, Role::cost,
              Noise::isotropic(0.01));
  }
  Values values;
  values.insert(user(0), vector({1.5, 0, 1}));
  const Report report = solve(graph, values);
  EXPECT_TRUE(report.converged()) << report.to_string();
  EXPECT_LT((values.vector(user(0)) - vector({2, -1, 1.5})).norm(), 1e-13);
  EXPECT_EQ(report.unknowns, 3);
  EXPECT_EQ(report.cost_rows, 7);
  EXPECT_GT(report.cost_before, 1);
  EXPECT_LT(report.cost_after, 1e-20);
}

// NIST StRD, Misra1a: certified values, from the harder of the two starts.
TEST_P(EachMethod, FitsMisra1aToNineCertifiedDigits) {
  const double y[] = {10.07E0, 14.73E0, 17.94E0, 23.93E0, 29.61E0, 35.18E0, 40.02E0,
                      44.82E0, 50.76E0, 55.05E0, 61.01E0, 66.40E0, 75.47E0, 81.78E0};
  const double x[] = {77.6E0,  114.9E0, 141.1E0, 190.8E0, 239.9E0, 289.0E0, 332.8E0,
                      378.4E0, 434.8E0, 477.3E0, 536.8E0, 593.1E0, 689.1E0, 760.0E0};
  Graph graph;
  for (int i = 0; i < 14; ++i) {
    graph.add(formula<1, 1, 1>("misra1a", [xi = x[i], yi = y[i]](
                                              auto b, auto* r) { r[0] = b[0][0] * (1.0 - exp(-b[1][0] * xi)) - yi; }),
              {user(1), user(2)});
  }
  Values values;
  values.insert(user(1), 500.0);
  values.insert(user(2), 0.0001);
  const Report report = solve(graph, values);
  EXPECT_TRUE(report.converged()) << report.to_string();
  EXPECT_NEAR(values.at(user(1))[0], 2.3894212918E+02, 1e-6);
  EXPECT_NEAR(values.at(user(2))[0], 5.5015643181E-04, 1e-11);
  EXPECT_NEAR(2 * report.cost_after, 1.2455138894E-01, 1e-11);
}

TEST_P(EachMethod, FindsTheMinimumOfRosenbrock) {
  Graph graph;
  graph.add(formula<2, 2>("rosenbrock",
                          [](auto x, auto* r) {
                            r[0] = 10.0 * (x[0][1] - x[0][0] * x[0][0]);
                            r[1] = 1.0 - x[0][0];
                          }),
            {user(0)});
  Values values;
  values.insert(user(0), vector({-1.2, 1}));
  const Report report = solve(graph, values);
  EXPECT_TRUE(report.converged()) << report.to_string();
  EXPECT_LT((values.vector(user(0)) - vector({1, 1})).norm(), 1e-11);
}

TEST_P(EachMethod, RobustLossesIgnoreOutliers) {
  for (const Loss& loss : {Loss::huber(1), Loss::cauchy(1), Loss::tukey(4), Loss::geman_mcclure(2)}) {
    Graph graph;
    for (int i = 0; i < 20; ++i) {
      const double noise = 0.01 * std::sin(7.0 * i), outlier = i % 5 == 3 ? 4.0 : 0.0;
      graph.add(formula<1, 2>("line", [t = 0.1 * i, y = 1 + 0.2 * i + noise + outlier](
                                          auto p, auto* r) { r[0] = p[0][0] + p[0][1] * t - y; }),
                {user(0)}, Role::cost, Noise::isotropic(0.05), loss);
    }
    Values values;
    values.insert(user(0), vector({1.05, 2.05}));
    const Report report = solve(graph, values);
    EXPECT_TRUE(report.converged()) << report.to_string();
    // Huber keeps a bounded pull of the outliers; the others let go of them.
    const double tolerance = loss.shape() == Loss::Shape::huber ? 0.05 : 0.01;
    EXPECT_LT((values.vector(user(0)) - vector({1, 2})).norm(), tolerance) << int(loss.shape());
    EXPECT_EQ(report.worst.size(), 5u);
  }
}

TEST_P(EachMethod, GivesTheSameAnswerUnderEveryOrdering) {
  Graph graph;
  Values values;
  constexpr int n = 30;
  for (int i = 0; i < n; ++i) values.insert(user(0, i), vector({0.1 * i, 1}));
  graph.add(prior("start", vector({0, 0})), {user(0, 0)});
  for (int i = 0; i + 1 < n; ++i) {
    graph.add(formula<2, 2, 2>("link",
                               [](auto x, auto* r) {
                                 r[0] = x[1][0] - x[0][0] - cos(x[0][1]);
                                 r[1] = x[1][1] - x[0][1] - 0.1;
                               }),
              {user(0, i), user(0, i + 1)}, i % 3 == 0 ? Role::equality : Role::cost);
  }
  graph.add(prior("end", vector({15, 0})), {user(0, n - 1)});
  std::vector<Values> answers;
  using linear::OrderingMethod;
  for (const auto method : {OrderingMethod::natural, OrderingMethod::colamd, OrderingMethod::amd, OrderingMethod::metis,
                            OrderingMethod::user}) {
    OptimizerOptions options;
    options.method = GetParam();
    options.ordering.method = method;
    for (int i = n - 1; i >= 0; --i) options.ordering.order.push_back(user(0, i));
    Values copy = values;
    const auto report = optimize(graph, copy, options);
    ASSERT_TRUE(report) << report.failure().to_string();
    EXPECT_TRUE(report->converged()) << report->to_string();
    answers.push_back(copy);
  }
  for (const Values& v : answers) EXPECT_LT(answers[0].local(v).norm(), 1e-8);
}

TEST_P(EachMethod, StopsWhereNothingIsUnknown) {
  Graph graph;
  graph.add(prior("p", 1.0), {user(0)});
  graph.known().insert(user(0));
  Values values;
  values.insert(user(0), 3.0);
  EXPECT_EQ(solve(graph, values).message, "nothing is unknown");
  EXPECT_EQ(values.at(user(0))[0], 3.0);
}

TEST_P(EachMethod, NamesWhatIsNotFiniteAndKeepsTheValues) {
  Graph graph;
  graph.add(prior("anchor", 1.0), {user(0)});
  graph.add(formula<1, 1>("logarithm", [](auto x, auto* r) { r[0] = log(x[0][0]); }), {user(1)});
  Values values;
  values.insert(user(0), 3.0);
  values.insert(user(1), -1.0);
  const Report report = solve(graph, values);
  EXPECT_EQ(report.status, Status::not_finite);
  EXPECT_EQ(report.message, "logarithm[0] (user1@0): the residual or its derivative is not finite");
  EXPECT_EQ(report.failure().exit_status(), 1);
  EXPECT_EQ(values.at(user(1))[0], -1.0);
}

TEST_P(EachMethod, NamesAResidualWhoseSquareIsNotFinite) {
  Graph graph;
  graph.add(formula<1, 1>("huge", [](auto x, auto* r) { r[0] = 1e200 * x[0][0]; }), {user(0)});
  Values values;
  values.insert(user(0), 1.0);
  const Report report = solve(graph, values);
  EXPECT_EQ(report.status, Status::not_finite);
  EXPECT_EQ(report.message, "huge[0] (user0@0): the residual or its derivative is not finite");
}

TEST_P(EachMethod, BacksAwayFromWhereAResidualIsNotFinite) {
  // The full step from 4 leads to −1.5, where there is no logarithm.
  Graph graph;
  graph.add(formula<1, 1>("logarithm", [](auto x, auto* r) { r[0] = log(x[0][0]); }), {user(0)});
  Values values;
  values.insert(user(0), 4.0);
  const Report report = solve(graph, values);
  EXPECT_TRUE(report.converged()) << report.to_string();
  EXPECT_NEAR(values.at(user(0))[0], 1, 1e-12);
}

TEST(Optimizer, LevenbergMarquardtConvergesFromABadStartWhereFullStepsDoNot) {
  // Powell's badly scaled function: 1e4 x y = 1, e⁻ˣ + e⁻ʸ = 1.0001
  Graph graph;
  graph.add(formula<2, 2>("badly scaled",
                          [](auto x, auto* r) {
                            r[0] = 1e4 * x[0][0] * x[0][1] - 1.0;
                            r[1] = exp(-x[0][0]) + exp(-x[0][1]) - 1.0001;
                          }),
            {user(0)});
  Values values;
  values.insert(user(0), vector({0, 1}));
  const auto report = optimize(graph, values);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->converged()) << report->to_string();
  EXPECT_NEAR(values.at(user(0))[0], 1.098159329699759e-05, 1e-13);
  EXPECT_NEAR(values.at(user(0))[1], 9.106146739867318, 1e-7);
}

TEST(Optimizer, LevenbergMarquardtSolvesWhatIsUnderdetermined) {
  Graph graph;
  graph.add(formula<1, 2>("sum", [](auto x, auto* r) { r[0] = x[0][0] + x[0][1] - 4.0; }), {user(0)});
  Values values;
  values.insert(user(0), vector({0, 1}));
  const auto report = optimize(graph, values);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->converged()) << report->to_string();
  EXPECT_NEAR(values.vector(user(0)).sum(), 4, 1e-10);
  EXPECT_NEAR(values.at(user(0))[0], 1.5, 1e-6);  // the nearest such point
}

TEST(Optimizer, LevenbergMarquardtLeavesAloneWhatHasNoSlope) {
  Graph graph;
  graph.add(formula<1, 1>("flat", [](auto x, auto* r) { r[0] = x[0][0] * x[0][0]; }), {user(0)});
  graph.add(prior("anchor", 1.0), {user(1)}, Role::cost, Noise::isotropic(1e-6));
  Values values;
  values.insert(user(0), 0.0);
  values.insert(user(1), 0.0);
  const auto report = optimize(graph, values);
  EXPECT_TRUE(report->converged()) << report->to_string();
  EXPECT_EQ(values.at(user(0))[0], 0);
  EXPECT_NEAR(values.at(user(1))[0], 1, 1e-12);
}

TEST(Optimizer, GaussNewtonNamesWhatIsUndetermined) {
  Graph graph;
  graph.add(formula<1, 2>("sum", [](auto x, auto* r) { r[0] = x[0][0] + x[0][1] - 4.0; }), {user(0)});
  graph.add(prior("anchor", 1.0), {user(1)});
  Values values;
  values.insert(user(0), vector({0, 1}));
  values.insert(user(1), 0.0);
  OptimizerOptions options;
  options.method = Method::gauss_newton;
  const auto report = optimize(graph, values, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, Status::singular);
  EXPECT_EQ(report->message, "3 unknowns, 2 equations (0 hard, 2 soft), rank 2: nothing determines user0@0 (in sum)");
}

TEST(Optimizer, ReportsTheWorstFactors) {
  Graph graph;
  for (int i = 0; i < 8; ++i) graph.add(prior("wish " + std::to_string(i), double(i)), {user(0)});
  Values values;
  values.insert(user(0), 0.0);
  const auto report = optimize(graph, values);
  ASSERT_TRUE(report);
  EXPECT_NEAR(values.at(user(0))[0], 3.5, 1e-12);
  ASSERT_EQ(report->worst.size(), 5u);
  EXPECT_TRUE(report->worst[0].name == "wish 0 (user0@0)" || report->worst[0].name == "wish 7 (user0@0)");
  EXPECT_NEAR(report->worst[0].cost, 0.5 * 3.5 * 3.5, 1e-12);
  EXPECT_NEAR(report->cost_after, 21, 1e-12);
}

TEST(Optimizer, CanBeInterrupted) {
  Graph graph;
  graph.add(formula<2, 2>("rosenbrock",
                          [](auto x, auto* r) {
                            r[0] = 10.0 * (x[0][1] - x[0][0] * x[0][0]);
                            r[1] = 1.0 - x[0][0];
                          }),
            {user(0)});
  Values values;
  values.insert(user(0), vector({-1.2, 1}));
  OptimizerOptions options;
  int calls = 0;
  options.progress = [&](double share) { return share < 1 && ++calls < 3; };
  auto report = optimize(graph, values, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, Status::interrupted);
  EXPECT_EQ(report->iterations, 2);
  EXPECT_EQ(report->failure().exit_status(), 130);
  options.progress = nullptr;
  options.max_iterations = 2;
  report = optimize(graph, values, options);
  EXPECT_EQ(report->status, Status::max_iterations);
  EXPECT_EQ(report->iterations, 2);
  EXPECT_FALSE(report->converged());
}

TEST(Optimizer, OptionsNameTheFieldAndTheRule) {
  OptimizerOptions options;
  options.step_tolerance = -0.001;
  options.max_iterations = -1;
  options.hard_tolerance = std::numeric_limits<double>::quiet_NaN();
  Values values;
  const auto report = optimize(Graph(), values, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.failure().exit_status(), 2);
  EXPECT_EQ(report.failure().to_string(),
            "error: max_iterations: must be >= 0, is -1\n"
            "error: step_tolerance: must be > 0, is -0.001\n"
            "error: hard_tolerance: must be > 0, is nan");
}

TEST(Optimizer, AnOrderMustNameEveryUnknown) {
  Graph graph;
  graph.add(prior("p", 1.0), {user(0)});
  graph.add(prior("p", 1.0), {user(1)});
  Values values;
  values.insert(user(0), 0.0);
  values.insert(user(1), 0.0);
  OptimizerOptions options;
  options.ordering.method = linear::OrderingMethod::user;
  options.ordering.order = {user(0)};
  EXPECT_EQ(optimize(graph, values, options).failure().to_string(), "error: order: user1@0 is missing");
  options.ordering.order = {user(0), user(0)};
  EXPECT_EQ(optimize(graph, values, options).failure().to_string(), "error: order: user0@0 is named twice");
  options.ordering.order = {user(5)};
  EXPECT_EQ(optimize(graph, values, options).failure().to_string(), "error: order: user5@0 is not an unknown");
}

}  // namespace
}  // namespace kinegraph::optimizer_test
