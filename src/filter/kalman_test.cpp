#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "kinegraph/base/chi_squared.hpp"
#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/square_root.hpp"
#include "kinegraph/filter/toy_test.hpp"
#include "kinegraph/filter/ukf.hpp"
#include "kinegraph/linear/allocations_test.hpp"

namespace kinegraph::filter::kalman_test {
namespace {

Belief start_at(double angle, double rate, double sd_angle = 0.1, double sd_rate = 0.3) {
  Belief b;
  b.x = Eigen::Vector2d(angle, rate);
  b.P = Eigen::Vector2d(sd_angle * sd_angle, sd_rate * sd_rate).asDiagonal();
  return b;
}

Measurement reading(double t, int sensor, double y) { return {t, sensor, {y, kNan, kNan, kNan, kNan, kNan}}; }

template <class Filter>
std::unique_ptr<Kalman> make(const Pendulum& p, const Belief& start, const KalmanOptions& options = {}) {
  auto filter = Filter::make(p.clone(), start, options);
  EXPECT_TRUE(filter) << filter.failure().to_string();
  return std::move(*filter);
}

/// A pendulum that starts at random about `mean` and is disturbed as its model says, with readings of both sensors.
struct Run {
  std::vector<Eigen::Vector2d> truth;
  std::vector<Measurement> readings;
};
Run simulate(Pendulum p, const Belief& mean, int steps, double h, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  Run run;
  Eigen::Vector2d x = mean.x, next;
  for (int i = 0; i < 2; ++i) x[i] += std::sqrt(mean.P(i, i)) * normal(bits);
  for (int k = 1; k <= steps; ++k) {
    const double noise[2] = {normal(bits), normal(bits)};
    p.advance(0, h, x.data(), next.data());
    x = next;
    p.disturb(0, h, x.data(), noise);
    run.truth.push_back(x);
    const int sensor = k % 2;
    run.readings.push_back(reading(k * h, sensor, x[sensor] + p.sensors()[sensor].channels[0].noise * normal(bits)));
  }
  return run;
}

double nees(const Belief& b, const Eigen::Vector2d& truth) {
  Eigen::Vector2d e = truth - b.x;
  e[0] = std::remainder(e[0], 2 * M_PI);
  return e.dot(b.P.llt().solve(e));
}

template <class Filter>
class KalmanFilters : public ::testing::Test {};
using Kinds = ::testing::Types<Ekf, Ukf>;
TYPED_TEST_SUITE(KalmanFilters, Kinds);

TYPED_TEST(KalmanFilters, AreTheTextbookFilterOfALinearSystem) {
  Pendulum p;
  p.linear = true;
  for (auto& s : p.mutable_sensors()) s.channels[0].circular = false;
  const Belief start = start_at(0.3, -0.2);
  const Run run = simulate(p, start, 200, 0.01, 3);
  auto filter = make<TypeParam>(p, start);
  Eigen::Vector2d x = start.x, next;
  Eigen::Matrix2d P = start.P;
  MatrixXd F, Q;
  Chart chart;
  for (const Measurement& m : run.readings) {
    ASSERT_TRUE(filter->push(m));
    p.advance(0, 0.01, x.data(), chart, next.data(), chart, F, Q);
    x = next;
    P = F * P * F.transpose() + Q;
    Eigen::RowVector2d H = Eigen::RowVector2d::Unit(m.sensor);
    const double R = std::pow(p.sensors()[m.sensor].channels[0].noise, 2), S = H * P * H.transpose() + R;
    const Eigen::Vector2d K = P * H.transpose() / S;
    x += K * (m.y[0] - H * x);
    P = (Eigen::Matrix2d::Identity() - K * H) * P;
    EXPECT_LT((filter->belief().x - x).norm(), 1e-12);
    EXPECT_LT((filter->belief().P - P).norm(), 1e-12 * P.norm());
    EXPECT_EQ(filter->t(), m.t);
  }
}

// Average of 200 runs' NEES: 200 × 2 numbers, inside the two-sided 95 % band, at each of three times.
TYPED_TEST(KalmanFilters, AreConsistent) {
  Pendulum p;
  const Belief start = start_at(0.8, 0.5);
  constexpr int runs = 200, steps = 300;
  std::array<double, 3> sum = {};
  double innovations = 0;
  for (int seed = 0; seed < runs; ++seed) {
    const Run run = simulate(p, start, steps, 0.01, 100 + seed);
    auto filter = make<TypeParam>(p, start);
    filter->on_innovation = [&](const Innovation& i) { innovations += i.nis; };
    for (int k = 0; k < steps; ++k) {
      ASSERT_TRUE(filter->push(run.readings[k]));
      if (k % 100 == 99) sum[k / 100] += nees(filter->belief(), run.truth[k]);
    }
  }
  for (const double s : sum) {
    EXPECT_GT(s, chi_squared_quantile(0.025, 2 * runs));
    EXPECT_LT(s, chi_squared_quantile(0.975, 2 * runs));
  }
  EXPECT_NEAR(innovations / (runs * steps), 1, 0.02);
}

TYPED_TEST(KalmanFilters, DoNotDependOnTheStep) {
  Pendulum p;
  const Belief start = start_at(0.8, 0.5);
  const Run run = simulate(p, start, 30, 0.1, 7);
  KalmanOptions coarse, fine;
  coarse.step = 0.02, fine.step = 0.002;
  auto a = make<TypeParam>(p, start, coarse), b = make<TypeParam>(p, start, fine);
  for (const Measurement& m : run.readings) {
    ASSERT_TRUE(a->push(m));
    ASSERT_TRUE(b->push(m));
    const VectorXd sd = b->belief().P.diagonal().cwiseSqrt();
    EXPECT_LT((a->belief().x - b->belief().x).cwiseQuotient(sd).norm(), 0.01);
    EXPECT_LT((a->belief().P.diagonal().cwiseSqrt() - sd).norm(), 0.01 * sd.norm());
  }
}

TYPED_TEST(KalmanFilters, TakeReadingsOfOneTimeInAnyOrder) {
  Pendulum p;
  p.linear = true;
  auto a = make<TypeParam>(p, start_at(0.3, 0)), b = make<TypeParam>(p, start_at(0.3, 0));
  ASSERT_TRUE(a->push(reading(0.1, 0, 0.31)) && a->push(reading(0.1, 1, -0.2)));
  ASSERT_TRUE(b->push(reading(0.1, 1, -0.2)) && b->push(reading(0.1, 0, 0.31)));
  EXPECT_LT((a->belief().x - b->belief().x).norm(), 1e-13);
  EXPECT_LT((a->belief().P - b->belief().P).norm(), 1e-15);
}

TYPED_TEST(KalmanFilters, CompareAnglesTheShortWayRound) {
  Pendulum p;
  auto filter = make<TypeParam>(p, start_at(M_PI - 0.01, 0));
  Innovation told;
  filter->on_innovation = [&](const Innovation& i) { told = i; };
  ASSERT_TRUE(filter->push(reading(0, 0, -M_PI + 0.02)));
  EXPECT_NEAR(told.e[0], 0.03, 1e-12);
  EXPECT_NEAR(told.sd[0], std::hypot(0.1, 0.02), 1e-12);
  EXPECT_NEAR(filter->belief().x[0], M_PI - 0.01 + 0.03 * 0.01 / (0.01 + 0.0004), 1e-9);
}

TYPED_TEST(KalmanFilters, GateOutliers) {
  Pendulum p;
  KalmanOptions options;
  options.gate = 0.999;
  auto filter = make<TypeParam>(p, start_at(0.5, 0, 0.01), options), blind = make<TypeParam>(p, start_at(0.5, 0, 0.01));
  std::vector<Innovation> told;
  filter->on_innovation = [&](const Innovation& i) { told.push_back(i); };
  ASSERT_TRUE(filter->push(reading(0.1, 0, 2.5)) && blind->advance(0.1));
  EXPECT_EQ(filter->belief().x, blind->belief().x);
  EXPECT_EQ(filter->belief().P, blind->belief().P);
  ASSERT_TRUE(filter->push(reading(0.1, 0, blind->belief().x[0] + 0.03)));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_FALSE(told[0].accepted);
  EXPECT_GT(told[0].nis, chi_squared_quantile(0.999, 1));
  EXPECT_TRUE(told[1].accepted);
  EXPECT_GT(filter->belief().x[0], blind->belief().x[0]);
}

TYPED_TEST(KalmanFilters, WeighOutliersDown) {
  Pendulum p;
  KalmanOptions robust;
  robust.huber = 2;
  const auto pull = [&](const KalmanOptions& options, double off) {
    auto filter = make<TypeParam>(p, start_at(0.5, 0, 0.01), options);
    EXPECT_TRUE(filter->push(reading(0, 0, 0.5 + off)));
    return filter->belief().x[0] - 0.5;
  };
  EXPECT_NEAR(pull(robust, 0.04), pull({}, 0.04), 1e-15);  // 1.8 standard deviations
  EXPECT_LT(pull(robust, 1.0), 0.1 * pull({}, 1.0));
  EXPECT_GT(pull(robust, 1.0), pull(robust, 0.04));
  EXPECT_LT(pull(robust, 3.0), 1.1 * pull(robust, 1.0));
}

TYPED_TEST(KalmanFilters, RefuseAndSurviveAbsurdReadings) {
  Pendulum p;
  auto filter = make<TypeParam>(p, start_at(0.5, 0));
  std::vector<Innovation> told;
  filter->on_innovation = [&](const Innovation& i) { told.push_back(i); };
  const auto message = [&](const Measurement& m) { return filter->push(m).failure().to_string(); };
  EXPECT_EQ(message(reading(0.1, 7, 0)), "error: there is no sensor 7");
  EXPECT_EQ(message(reading(0.1, 0, 1 / 0.0)), "error: the reading of 'angle.q' at t = 0.1 s is infinite");
  EXPECT_EQ(message(reading(kNan, 1, 0)), "error: a reading of 'rate' has no finite time");
  ASSERT_TRUE(filter->push(reading(0.5, 1, 1)));
  EXPECT_EQ(message(reading(0.2, 1, 0)), "error: the reading of 'rate' at t = 0.2 s came 0.3 s late; none are kept");
  EXPECT_EQ(filter->advance(1e9).failure().to_string(),
            "error: from t = 0.5 s to 1000000000 s there is no reading: 1e+11 steps would be needed");
  ASSERT_TRUE(filter->push(reading(0.5, 1, 1e300)));  // NIS is beyond the largest number
  EXPECT_FALSE(told.back().accepted);
  EXPECT_TRUE(std::isfinite(told.back().nis));
  ASSERT_TRUE(filter->push(reading(0.6, 1, kNan)));  // not given: time goes on, nothing is told
  EXPECT_EQ(told.size(), 2u);
  EXPECT_EQ(filter->t(), 0.6);
  ASSERT_TRUE(filter->push(reading(0.6, 1, 1e100)));
  for (int k = 0; k < 50; ++k) {
    auto ok = filter->push(reading(0.6 + 0.01 * k, 0, 1e6 * k));
    EXPECT_TRUE(filter->belief().x.allFinite());
    EXPECT_TRUE(filter->belief().P.allFinite());
  }
}

// A start known to 1e6 and readings to 1e-6: P = 1e12 and 1e-12 meet in one matrix.
TYPED_TEST(KalmanFilters, StayPositiveDefinite) {
  Pendulum p;
  p.k = 0, p.density = 1e-6;
  p.mutable_sensors()[0].channels = {{"angle.q", 1e-6, false}};
  auto filter = make<TypeParam>(p, start_at(0, 0, 1e6, 1e6));
  for (int k = 0; k < 1000; ++k) {
    ASSERT_TRUE(filter->push(reading(0.01 * k, 0, 0.01 * k)));
    const MatrixXd& P = filter->belief().P;
    EXPECT_EQ(P, P.transpose());
    EXPECT_GT(P.determinant(), 0);
    EXPECT_GT(P(0, 0), 0);
  }
  EXPECT_NEAR(filter->belief().x[1], 1, 1e-5);
}

TYPED_TEST(KalmanFilters, RewindToTheBit) {
  Pendulum p;
  auto filter = make<TypeParam>(p, start_at(0.5, 0));
  auto kept = filter->snapshot();
  ASSERT_TRUE(filter->push(reading(0.1, 0, 0.4)));
  filter->save(*kept);
  ASSERT_TRUE(filter->push(reading(0.25, 1, -0.4)));
  const Belief before = filter->belief();
  filter->restore(*kept);
  EXPECT_EQ(filter->t(), 0.1);
  ASSERT_TRUE(filter->push(reading(0.25, 1, -0.4)));
  EXPECT_EQ(filter->belief().x, before.x);
  EXPECT_EQ(filter->belief().P, before.P);
}

TEST(Kalman, RefusesBadStarts) {
  Pendulum p;
  Belief b = start_at(0, 0);
  const auto message = [&](const KalmanOptions& options) {
    return Ekf::make(p.clone(), b, options).failure().to_string();
  };
  EXPECT_EQ(message({.step = 0}), "error: step must be positive, not 0 s");
  EXPECT_EQ(message({.gate = 1}), "error: gate is a probability below 1 (0: off), not 1");
  EXPECT_EQ(Ukf::make(p.clone(), b, {.alpha = 2, .beta = 2}).failure().to_string(),
            "error: the unscented filter needs alpha > 0, beta ≥ alpha² and kappa > −2, not 2, 2, 0");
  b.P(0, 1) = b.P(1, 0) = 1;
  EXPECT_EQ(message({}), "error: the covariance of the start is not positive semidefinite");
  b.P.resize(3, 3);
  EXPECT_EQ(message({}), "error: a start has 2 numbers and a covariance of 2 × 2, not 2 and 3 × 3");
}

/// Reads the square of the angle: enough to tell linearisations apart.
class SquareSensor : public Pendulum {
 public:
  SquareSensor() { mutable_sensors() = {{"square", {{"square.q", 1e-3, false}}}}; }
  std::unique_ptr<StateSpace> clone() const override { return std::make_unique<SquareSensor>(*this); }
  bool predict(double, const double* x, int, double* y) override {
    *y = x[0] * x[0];
    return true;
  }
  bool predict(double t, const double* x, const Chart&, int, double* y, MatrixXd& H) override {
    H.setZero(1, 2);
    H(0, 0) = 2 * x[0];
    return predict(t, x, 0, y);
  }
};

TEST(Ekf, IteratesToTheMostProbableState) {
  SquareSensor p;
  const Belief start = start_at(1, 0, 0.3);
  auto once = make<Ekf>(p, start), often = make<Ekf>(p, start, {.iterations = 10});
  ASSERT_TRUE(once->push(reading(0, 0, 2.25)) && often->push(reading(0, 0, 2.25)));
  // The minimum of ((θ − 1) / 0.3)² + ((θ² − 2.25) / 0.001)²: its derivative is zero.
  const double x = often->belief().x[0];
  EXPECT_NEAR((x - 1) / 0.09 + (x * x - 2.25) * 2 * x / 1e-6, 0, 1e-4);
  EXPECT_NEAR(x, 1.5, 1e-4);
  EXPECT_GT(std::abs(once->belief().x[0] - 1.5), 0.05);
}

// With little noise p(y) = N(θ; 1, 0.3²) / |dy/dθ| at θ = √y (at −√y it is e⁻³³).
TEST(Ekf, KnowsHowProbableACurvedReadingIs) {
  SquareSensor p;
  auto once = make<Ekf>(p, start_at(1, 0, 0.3)), often = make<Ekf>(p, start_at(1, 0, 0.3), {.iterations = 10});
  ASSERT_TRUE(once->push(reading(0, 0, 2.25)) && often->push(reading(0, 0, 2.25)));
  const double exact = -0.5 * std::pow(0.5 / 0.3, 2) - std::log(0.3 * std::sqrt(2 * M_PI)) - std::log(2 * 1.5);
  EXPECT_NEAR(often->log_likelihood(), exact, 1e-3);
  EXPECT_NEAR(often->nis(), std::pow(0.5 / 0.3, 2), 1e-3);
  EXPECT_GT(std::abs(once->log_likelihood() - exact), 0.3);
}

// E[θ²] = μ² + σ², var θ² = 4 μ² σ² + 2 σ⁴; the points of two numbers say (2 + α²) σ⁴.
TEST(Ukf, SeesTheSecondOrder) {
  SquareSensor p;
  for (const double alpha : {1.0, 1e-3}) {
    auto filter = make<Ukf>(p, start_at(1, 0, 0.3), {.alpha = alpha});
    Innovation told;
    filter->on_innovation = [&](const Innovation& i) { told = i; };
    ASSERT_TRUE(filter->push(reading(0, 0, 1.09)));
    EXPECT_NEAR(told.e[0], 0, 1e-6);
    const double expected = 4 * 0.09 + (2 + alpha * alpha) * 0.0081 + 1e-6;
    EXPECT_NEAR(told.sd[0] * told.sd[0], expected, 1e-6);
  }
}

TEST(SquareRoot, OfSingularAndIndefiniteMatrices) {
  MatrixXd L, A(3, 2);
  A << 1, 2, 0.5, -1, 3, 3e-3;
  const MatrixXd P = A * A.transpose();
  ASSERT_TRUE(square_root(P, L));
  EXPECT_LT((L * L.transpose() - P).norm(), 1e-13);
  ASSERT_TRUE(square_root(MatrixXd::Zero(2, 2), L));
  EXPECT_EQ(L.norm(), 0);
  MatrixXd bad = P;
  bad(2, 2) -= 0.1;
  EXPECT_FALSE(square_root(bad, L));
  bad.setZero();
  bad(0, 1) = bad(1, 0) = 1;
  EXPECT_FALSE(square_root(bad, L));
  bad = P;
  bad(1, 1) = kNan;
  EXPECT_FALSE(square_root(bad, L));
}

TEST(LinearUpdate, IsTheKalmanUpdateWithCorrelatedNoise) {
  std::mt19937_64 bits(5);
  std::normal_distribution<double> normal;
  const auto random = [&](int r, int c) { return MatrixXd(MatrixXd::NullaryExpr(r, c, [&] { return normal(bits); })); };
  const int n = 5, m = 3;
  const MatrixXd S = random(n, n), H = random(m, n), N = random(m, m);
  LinearReading reading;
  reading.rows = m;
  reading.A.setZero(n, kMostRows);
  reading.A.leftCols(m) = (H * S).transpose();
  reading.R.topLeftCorner(m, m) = N * N.transpose();
  reading.e.head(m) = random(m, 1);
  LinearUpdate update;
  MatrixXd after;
  VectorXd delta;
  ASSERT_TRUE(update.compare(reading));
  update.apply(S, after, delta);
  const MatrixXd P = S * S.transpose(), R = N * N.transpose(), V = H * P * H.transpose() + R;
  const MatrixXd K = P * H.transpose() * V.inverse();
  const VectorXd e = reading.e.head(m);
  EXPECT_LT((delta - K * e).norm(), 1e-12);
  EXPECT_LT((after * after.transpose() - (P - K * V * K.transpose())).norm(), 1e-12 * P.norm());
  EXPECT_NEAR(update.nis(), e.dot(V.inverse() * e), 1e-12);
  EXPECT_NEAR(update.log_likelihood(), -0.5 * (update.nis() + std::log(V.determinant()) + m * std::log(2 * M_PI)),
              1e-12);
  EXPECT_NEAR(reading.sd(1), std::sqrt(V(1, 1)), 1e-12);
}

TEST(Ekf, AllocatesNothingOnceWarm) {
  if (!linear::test::allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  Pendulum p;
  auto filter = make<Ekf>(p, start_at(0.5, 0), {.gate = 0.9999, .huber = 3, .iterations = 2});
  double nis = 0;
  filter->on_innovation = [&](const Innovation& i) { nis += i.nis; };
  for (int k = 1; k < 10; ++k) ASSERT_TRUE(filter->push(reading(0.01 * k, k % 2, 0.4)));
  filter->belief();
  const long before = linear::test::allocations();
  for (int k = 10; k < 200; ++k) {
    if (!filter->push(reading(0.01 * k, k % 2, 0.4)) || filter->belief().P(0, 0) < 0) break;
  }
  EXPECT_EQ(linear::test::allocations(), before);
  EXPECT_EQ(filter->t(), 0.01 * 199);
}

}  // namespace
}  // namespace kinegraph::filter::kalman_test
