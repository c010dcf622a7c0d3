#include <gtest/gtest.h>

#include "kinegraph/filter/smoother_cases_test.hpp"
#include "kinegraph/graph/function_factor.hpp"
#include "kinegraph/solve/covariance.hpp"
#include "kinegraph/solve/optimizer.hpp"

// The smoother's special elimination against the general graph solver, on the same problem.
namespace kinegraph::filter::smoother_graph_test {
namespace {

using namespace smoother_cases;

Key knot(int k) { return {Kind::user, false, 0, k}; }

TEST(Smoother, EqualsTheGeneralGraphSolver) {
  Pendulum pendulum;
  LogOptions o;
  o.start_angle = 2;
  const Log log = simulate(pendulum, 12, o);
  const auto smoothed = smooth(pendulum, log.prior, log.measurements, {.step = 1, .tolerance = 1e-11});
  ASSERT_TRUE(smoothed) << smoothed.failure().to_string();

  Graph graph;
  Values values;
  const int knots = static_cast<int>(log.t.size());
  for (int k = 0; k < knots; ++k) values.insert(knot(k), log.truth[k]);
  const auto prior = [&](Slots x, double* residual, double* jacobian) {
    Eigen::Map<Eigen::Vector2d>{residual} = Eigen::Map<const Eigen::Vector2d>(x[0]) - log.prior.x;
    if (jacobian) Eigen::Map<Eigen::Matrix2d>(jacobian).setIdentity();
  };
  graph.add(std::make_shared<FunctionFactor>("prior", 2, std::vector<int>{2}, prior), {knot(0)}, Role::cost,
            Noise::full(log.prior.P));
  for (int k = 0; k + 1 < knots; ++k) {
    const double h = log.t[k + 1] - log.t[k];
    const auto motion = [&pendulum, h](Slots x, double* residual, double* jacobian) {
      VectorXd next(2);
      Chart chart;
      MatrixXd F, Q;
      pendulum.advance(0, h, x[0], chart, next.data(), chart, F, Q);
      Eigen::Map<Eigen::Vector2d>{residual} = Eigen::Map<const Eigen::Vector2d>(x[1]) - next;
      if (!jacobian) return;
      Eigen::Map<Eigen::Matrix2d>{jacobian} = -F;
      Eigen::Map<Eigen::Matrix2d>(jacobian + 4).setIdentity();
    };
    VectorXd next(2);
    Chart chart;
    MatrixXd F, Q;
    pendulum.advance(0, h, log.truth[k].data(), chart, next.data(), chart, F, Q);
    graph.add(std::make_shared<FunctionFactor>("motion", 2, std::vector<int>{2, 2}, motion), {knot(k), knot(k + 1)},
              Role::cost, Noise::full(Q));
  }
  for (std::size_t i = 0; i < log.measurements.size(); ++i) {
    const Measurement& m = log.measurements[i];
    const auto reading = [m](Slots x, double* residual, double* jacobian) {
      residual[0] = x[0][m.sensor] - m.y[0];
      if (jacobian) jacobian[m.sensor] = 1, jacobian[1 - m.sensor] = 0;
    };
    graph.add(std::make_shared<FunctionFactor>("reading", 1, std::vector<int>{2}, reading),
              {knot(smoothed->readings[i].knot)}, Role::cost,
              Noise::isotropic(pendulum.sensors()[m.sensor].channels[0].noise));
  }
  const auto report = optimize(graph, values);
  ASSERT_TRUE(report) << report.failure().to_string();
  ASSERT_TRUE(report->converged()) << report->to_string();
  EXPECT_NEAR(report->cost_after, smoothed->cost, 1e-9);
  auto covariances = Covariances::make(graph, values);
  ASSERT_TRUE(covariances) << covariances.failure().to_string();
  for (int k = 0; k < knots; ++k) {
    const Eigen::Map<const Eigen::Vector2d> x(values.at(knot(k)).data());
    EXPECT_LT((x - smoothed->knots[k].x).norm(), 1e-10) << k;
    const auto P = covariances->covariance(knot(k));
    ASSERT_TRUE(P);
    EXPECT_LT((*P - smoothed->knots[k].P).norm(), 1e-10) << k;
  }
}

}  // namespace
}  // namespace kinegraph::filter::smoother_graph_test
