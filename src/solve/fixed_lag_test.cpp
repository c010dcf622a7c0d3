#include "kinegraph/solve/fixed_lag.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

#include "kinegraph/graph/check_jacobians.hpp"
#include "kinegraph/solve/factors_test.hpp"

namespace kinegraph::fixed_lag_test {
namespace {

using namespace testing_solve;

Key state(int k) { return {Kind::position, false, 0, k}; }

/// A x₀ + B x₁ − c over two slots of the same size.
std::shared_ptr<const Factor> linear_pair(std::string name, Eigen::MatrixXd a, Eigen::MatrixXd b) {
  const int n = static_cast<int>(a.cols()), rows = static_cast<int>(a.rows());
  return std::make_shared<FunctionFactor>(
      std::move(name), rows, std::vector<int>{n, n}, [=](Slots x, double* residual, double* jacobian) {
        using Map = Eigen::Map<const Eigen::VectorXd>;
        Eigen::Map<Eigen::VectorXd>(residual, rows) = a * Map(x[0], n) + b * Map(x[1], n);
        if (!jacobian) return;
        Eigen::Map<Eigen::MatrixXd>(jacobian, rows, n) = a;
        Eigen::Map<Eigen::MatrixXd>(jacobian + rows * n, rows, n) = b;
      });
}
std::shared_ptr<const Factor> reading(Eigen::MatrixXd h, Eigen::VectorXd z) {
  const int n = static_cast<int>(h.cols()), rows = static_cast<int>(h.rows());
  return std::make_shared<FunctionFactor>(
      "reading", rows, std::vector<int>{n}, [=](Slots x, double* residual, double* jacobian) {
        Eigen::Map<Eigen::VectorXd>(residual, rows) = h * Eigen::Map<const Eigen::VectorXd>(x[0], n) - z;
        if (jacobian) Eigen::Map<Eigen::MatrixXd>(jacobian, rows, n) = h;
      });
}

/// xₖ₊₁ = F xₖ + w,  zₖ = H xₖ + v: a damped oscillator of which the position is read. Noise may act on the velocity
/// only (then the other rows of the dynamics are hard), so that Q is singular.
struct System {
  Eigen::Matrix2d F{{1, 0.1}, {-0.2, 0.97}};
  Eigen::Matrix2d Q{{0.02, 0.005}, {0.005, 0.03}};
  Eigen::RowVector2d H{1, 0.2};
  double R = 0.04;
  Eigen::Vector2d m0{1, 0};
  Eigen::Matrix2d P0{{0.5, 0.1}, {0.1, 0.4}};
  bool partly_hard = false;
  std::vector<double> z;

  explicit System(bool hard) : partly_hard(hard) {
    if (hard) Q << 0, 0, 0, 0.03;
    std::mt19937 engine(11);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 60; ++k) z.push_back(std::cos(0.15 * k) + 0.2 * normal(engine));
  }
  void add_step(int k, Graph& graph, Values& values) const {
    values.insert(state(k), Eigen::VectorXd(Eigen::Vector2d::Zero()));
    if (k == 0) graph.add(prior("start", Eigen::VectorXd(m0)), {state(0)}, Role::cost, Noise::full(P0));
    if (k > 0 && !partly_hard) {
      graph.add(linear_pair("motion", -F, Eigen::Matrix2d::Identity()), {state(k - 1), state(k)}, Role::cost,
                Noise::full(Q));
    }
    if (k > 0 && partly_hard) {
      const Eigen::Matrix2d one = Eigen::Matrix2d::Identity();
      graph.add(linear_pair("kinematics", -F.row(0), one.row(0)), {state(k - 1), state(k)}, Role::equality);
      graph.add(linear_pair("force", -F.row(1), one.row(1)), {state(k - 1), state(k)}, Role::cost,
                Noise::isotropic(std::sqrt(Q(1, 1))));
    }
    graph.add(reading(H, Eigen::VectorXd::Constant(1, z[k])), {state(k)}, Role::cost, Noise::isotropic(std::sqrt(R)));
  }
};

struct Kalman {
  Eigen::Vector2d m;
  Eigen::Matrix2d P;

  void predict(const System& s) {
    m = s.F * m;
    P = s.F * P * s.F.transpose() + s.Q;
  }
  void correct(const System& s, double z) {
    const Eigen::Vector2d gain = P * s.H.transpose() / (s.H * P * s.H.transpose() + s.R);
    m += gain * (z - s.H * m);
    const Eigen::Matrix2d keep = Eigen::Matrix2d::Identity() - gain * s.H;
    P = keep * P * keep.transpose() + gain * s.R * gain.transpose();
  }
};

TEST(FixedLag, EqualsTheKalmanFilterOnALinearSystem) {
  for (const bool hard : {false, true}) {
    for (const int lag : {0, 1, 4}) {
      const System system(hard);
      FixedLagOptions options;
      options.lag = lag;
      FixedLag smoother(options);
      Kalman kalman{system.m0, system.P0};
      for (int k = 0; k < 60; ++k) {
        Graph graph;
        Values values;
        system.add_step(k, graph, values);
        const auto report = smoother.update(graph, values);
        ASSERT_TRUE(report) << report.failure().to_string();
        ASSERT_TRUE(report->converged()) << report->to_string();
        if (k > 0) kalman.predict(system);
        kalman.correct(system, system.z[k]);
        ASSERT_LT((smoother.values().vector(state(k)) - kalman.m).norm(), 1e-10) << k << " lag " << lag << hard;
        const auto covariance = smoother.covariance(state(k));
        ASSERT_TRUE(covariance) << covariance.failure().to_string();
        ASSERT_LT((*covariance - kalman.P).norm(), 1e-10) << k << " lag " << lag << hard;
        ASSERT_LE(smoother.values().count(), lag + 1);
        ASSERT_LE(smoother.graph().size(), 3 * (lag + 1) + 3);
      }
    }
  }
}

TEST(FixedLag, EqualsTheBatchWithinItsWindow) {
  const System system(false);
  FixedLagOptions options;
  options.lag = 8;
  FixedLag smoother(options);
  Graph batch;
  Values all;
  for (int k = 0; k < 40; ++k) {
    Graph graph;
    Values values;
    system.add_step(k, graph, values);
    system.add_step(k, batch, all);
    ASSERT_TRUE(smoother.update(graph, values)->converged());
  }
  ASSERT_TRUE(optimize(batch, all)->converged());
  for (int k = 32; k < 40; ++k) {
    EXPECT_LT((smoother.values().vector(state(k)) - all.vector(state(k))).norm(), 1e-10) << k;
  }
}

TEST(FixedLag, TimelessVariablesStay) {
  // A constant bias (step −1) read through many steps that each leave the window.
  const Key bias{Kind::user, false, 0, -1};
  FixedLagOptions options;
  options.lag = 1;
  FixedLag smoother(options);
  for (int k = 0; k < 30; ++k) {
    Graph graph;
    Values values;
    values.insert(state(k), 0.0);
    if (k == 0) values.insert(bias, 0.0);
    graph.add(prior("state", double(k)), {state(k)}, Role::cost, Noise::isotropic(0.1));
    graph.add(formula<1, 1, 1>("biased", [k](auto x, auto* r) { r[0] = x[0][0] + x[1][0] - (k + 0.5); }),
              {state(k), bias}, Role::cost, Noise::isotropic(0.2));
    ASSERT_TRUE(smoother.update(graph, values)->converged());
  }
  EXPECT_NEAR(smoother.values().at(bias)[0], 0.5, 1e-12);
  EXPECT_NEAR((*smoother.covariance(bias))(0, 0), (0.01 + 0.04) / 30, 1e-15);
}

TEST(FixedLag, KnownVariablesLeaveWithTheirStep) {
  FixedLagOptions options;
  options.lag = 1;
  FixedLag smoother(options);
  for (int k = 0; k < 5; ++k) {
    const Key time{Kind::time, false, 0, k};
    Graph graph;
    Values values;
    values.insert(state(k), 0.0);
    values.insert(time, 0.1 * k);
    graph.known().insert(time);
    graph.add(formula<1, 1, 1>("law", [](auto x, auto* r) { r[0] = x[0][0] - x[1][0]; }), {state(k), time});
    ASSERT_TRUE(smoother.update(graph, values)->converged());
  }
  EXPECT_EQ(smoother.values().count(), 4);
  EXPECT_NEAR(smoother.values().at(state(4))[0], 0.4, 1e-14);
}

TEST(FixedLag, RefusesWhatDoesNotFitAndStaysAsItWas) {
  FixedLagOptions bad;
  bad.lag = -1;
  EXPECT_EQ(FixedLag(bad).update({}, {}).failure().to_string(), "error: lag: must be >= 0, is -1");
  FixedLag smoother;
  Graph graph;
  graph.add(prior("p", 1.0), {state(0)});
  EXPECT_EQ(smoother.update(graph, {}).failure().to_string(), "error: p (q0): slot 0: no value for q0");
  EXPECT_EQ(smoother.graph().size(), 0);
  Values values;
  values.insert(state(0), 0.0);
  EXPECT_TRUE(smoother.update(graph, values)->converged());
}

TEST(MarginalPrior, HasExactJacobiansOnEveryManifold) {
  Values values;
  values.insert(user(0), Eigen::VectorXd(Eigen::Vector2d(1, 2)));
  values.insert(user(1), SO2(3.0));
  values.insert(user(2), SO3::exp(Eigen::Vector3d(0.1, 0.7, -0.4)));
  values.insert(user(3), SE3::exp(SE3::Tangent::Constant(0.3)));
  const std::vector<Key> keys = {user(0), user(1), user(2), user(3)};
  std::mt19937 engine(2);
  std::normal_distribution<double> normal;
  const auto random = [&] { return normal(engine); };
  const MarginalPrior factor("past", values, keys, Eigen::MatrixXd::NullaryExpr(5, 12, random),
                             Eigen::VectorXd::NullaryExpr(5, random));
  values.retract(0.3 * Eigen::VectorXd::NullaryExpr(12, random));
  SlotValues x;
  JacobianCheckOptions options;
  for (int i = 0; i < 4; ++i) {
    x.emplace_back(values.at(keys[i]).begin(), values.at(keys[i]).end());
    options.manifolds.push_back(values.manifold(i));
  }
  const JacobianCheck check = check_jacobians(factor, x, options);
  EXPECT_TRUE(check.ok()) << check.message;
}

TEST(MarginalPrior, KeepsItsLinearisationPoint) {
  // Marginalise a of (a − 1)² + (b − a²)² at a point, then move b: the prior stays the parabola it was made.
  Graph graph;
  graph.add(prior("a", 1.0), {user(0)});
  graph.add(formula<1, 1, 1>("square", [](auto x, auto* r) { r[0] = x[1][0] - x[0][0] * x[0][0]; }),
            {user(0), user(1)});
  Values values;
  values.insert(user(0), 1.0);
  values.insert(user(1), 1.0);
  const auto past = marginalise(graph, values, {user(0)});
  ASSERT_TRUE(past);
  EXPECT_EQ(past->used, (std::vector<int>{0, 1}));
  ASSERT_TRUE(past->soft);
  EXPECT_FALSE(past->hard);
  // b = a² linearised at a = 1: variance 1 + 2² · 1 = 5.
  for (const double b : {1.0, 3.0, -2.0}) {
    double e = 0;
    const double* slot = &b;
    past->soft->evaluate(Slots(&slot, 1), &e, nullptr);
    EXPECT_NEAR(e * e, (b - 1) * (b - 1) / 5, 1e-14);
  }
}

}  // namespace
}  // namespace kinegraph::fixed_lag_test
