#include "kinegraph/filter/smoother.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/smoother_cases_test.hpp"
#include "kinegraph/filter/smoother_rows.hpp"

namespace kinegraph::filter::smoother_test {
namespace {

using namespace smoother_cases;

/// Root mean square error of the angle.
double angle_error(const Log& log, const Smoothed& smoothed) {
  double sum = 0;
  for (std::size_t k = 0; k < log.t.size(); ++k) sum += std::pow(smoothed.knots[k].x[0] - log.truth[k][0], 2);
  return std::sqrt(sum / log.t.size());
}

TEST(Smoother, EqualsKalmanFilterAndRtsSmootherOnALinearSystem) {
  Pendulum pendulum;
  pendulum.linear = true;
  const Log log = simulate(pendulum, 3, {.every = 3});
  SmootherOptions options;
  options.step = 1;
  const auto smoothed = smooth(pendulum, log.prior, log.measurements, options);
  ASSERT_TRUE(smoothed) << smoothed.failure().to_string();
  EXPECT_TRUE(smoothed->converged) << smoothed->why_not;
  EXPECT_LE(smoothed->iterations, 2);
  const Rts rts(pendulum, log.prior, log.measurements);
  ASSERT_EQ(smoothed->knots.size(), rts.t.size());
  for (std::size_t k = 0; k < rts.t.size(); ++k) {
    EXPECT_LT((smoothed->knots[k].x - rts.smoothed[k]).norm(), 1e-10) << k;
    EXPECT_LT((smoothed->knots[k].P - rts.smoothed_P[k]).norm(), 1e-10) << k;
  }
  EXPECT_NEAR(smoothed->log_evidence, rts.log_likelihood, 1e-8);
}

TEST(Smoother, ConvergesOnANonlinearSystemFromAPoorStart) {
  Pendulum pendulum;
  LogOptions o;
  o.P = Eigen::Vector2d(0.5, 1).asDiagonal();
  o.start_angle = 2;
  for (int seed = 0; seed < 10; ++seed) {
    const Log log = simulate(pendulum, seed, o);
    SmootherOptions options;
    options.tolerance = 1e-7;
    const auto smoothed = smooth(pendulum, log.prior, log.measurements, options);
    ASSERT_TRUE(smoothed) << smoothed.failure().to_string();
    EXPECT_TRUE(smoothed->converged) << smoothed->why_not;
    EXPECT_LT(smoothed->iterations, 15) << seed;
    std::vector<TimedState> initial;
    for (std::size_t k = 0; k < log.t.size(); k += 5) initial.push_back({log.t[k], log.truth[k]});
    const auto again = smooth(pendulum, log.prior, log.measurements, options, initial);
    ASSERT_TRUE(again) << again.failure().to_string();
    for (std::size_t k = 0; k < smoothed->knots.size(); ++k) {
      EXPECT_LT((smoothed->knots[k].x - again->knots[k].x).norm(), 1e-5) << seed << " " << k;
    }
  }
}

TEST(Smoother, GrossOutliersDoNotMatterToARobustLoss) {
  Pendulum pendulum;
  for (const Loss& loss : {Loss::huber(1.345), Loss::cauchy(2), Loss::tukey(4.685), Loss::geman_mcclure(3)}) {
    double clean = 0, robust = 0, plain = 0;
    for (int seed = 0; seed < 20; ++seed) {
      LogOptions o;
      const Log good = simulate(pendulum, seed, o);
      o.outliers = 0.05;
      const Log bad = simulate(pendulum, seed, o);
      SmootherOptions options;
      options.step = 0.02;
      clean += angle_error(good, *smooth(pendulum, good.prior, good.measurements, options));
      plain += angle_error(bad, *smooth(pendulum, bad.prior, bad.measurements, options));
      options.loss = loss;
      const auto smoothed = smooth(pendulum, bad.prior, bad.measurements, options);
      ASSERT_TRUE(smoothed) << smoothed.failure().to_string();
      EXPECT_TRUE(smoothed->converged) << smoothed->why_not;
      robust += angle_error(bad, *smoothed);
    }
    const double share = loss.shape() == Loss::Shape::huber ? 1.35 : 1.2;  // Huber's loss keeps a part of each spike
    EXPECT_LT(robust, share * clean) << static_cast<int>(loss.shape());
    EXPECT_GT(plain, 3 * clean);
  }
}

TEST(Smoother, IsAsUncertainAsItIsWrong) {
  Pendulum pendulum;
  const int seeds = 200;
  double middle = 0, end = 0, residual = 0;
  int residuals = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const Log log = simulate(pendulum, seed, {.duration = 1});
    const auto smoothed = smooth(pendulum, log.prior, log.measurements, {.step = 0.02});
    ASSERT_TRUE(smoothed);
    const std::size_t half = log.t.size() / 2, last = log.t.size() - 1;
    middle += nees(smoothed->knots[half].x, smoothed->knots[half].P, log.truth[half]) / seeds;
    end += nees(smoothed->knots[last].x, smoothed->knots[last].P, log.truth[last]) / seeds;
    for (const SmoothedReading& r : smoothed->readings) {
      residual += std::pow(r.e[0] / r.sd[0], 2);
      ++residuals;
    }
  }
  // χ² of 400 degrees of freedom / 200: 95 % within 2 ± 1.96 √(2 · 400) / 200.
  EXPECT_NEAR(middle, 2, 0.277);
  EXPECT_NEAR(end, 2, 0.277);
  EXPECT_NEAR(residual / residuals, 1, 0.02);
}

TEST(Smoother, CovariancesDoNotDependOnTheStep) {
  Pendulum pendulum;
  const Log log = simulate(pendulum, 1, {.duration = 1, .h = 0.1});
  SmootherOptions options;
  options.step = 0.02;
  const auto coarse = smooth(pendulum, log.prior, log.measurements, options);
  options.step = 0.005;
  const auto fine = smooth(pendulum, log.prior, log.measurements, options);
  ASSERT_TRUE(coarse && fine);
  ASSERT_EQ(coarse->knots.size(), 51);
  ASSERT_EQ(fine->knots.size(), 201);
  for (int k = 0; k <= 50; ++k) {
    const MatrixXd &a = coarse->knots[k].P, &b = fine->knots[4 * k].P;
    EXPECT_NEAR(coarse->knots[k].t, fine->knots[4 * k].t, 1e-12);
    EXPECT_LT((a - b).norm(), 0.01 * b.norm()) << k;
  }
}

TEST(Smoother, NamesWhatCannotBeDetermined) {
  Pendulum pendulum;
  pendulum.k = 0;  // no gravity: the rate says nothing of the angle
  LogOptions o;
  o.angle = false;
  o.duration = 20;
  Log log = simulate(pendulum, 5, o);
  log.prior.P.resize(0, 0);
  auto smoothed = smooth(pendulum, log.prior, log.measurements);
  ASSERT_FALSE(smoothed);
  EXPECT_EQ(smoothed.failure().kind, Failure::Kind::no_answer);
  EXPECT_EQ(smoothed.failure().to_string(),
            "error: theta.q at t = 20 s cannot be determined: neither the prior nor any reading says anything of it");
  // A prior of the angle alone is enough.
  log.prior.P = MatrixXd::Zero(2, 2);
  log.prior.P(0, 0) = 0.04;
  log.prior.P(1, 1) = std::numeric_limits<double>::infinity();
  smoothed = smooth(pendulum, log.prior, log.measurements);
  ASSERT_TRUE(smoothed) << smoothed.failure().to_string();
  EXPECT_TRUE(smoothed->converged) << smoothed->why_not;
  EXPECT_NEAR(smoothed->knots[0].P(0, 0), 0.04, 1e-9);
}

TEST(Smoother, MissingSamplesSayNothing) {
  Pendulum pendulum;
  Log log = simulate(pendulum, 2);
  std::vector<Measurement> without;
  for (std::size_t i = 0; i < log.measurements.size(); ++i) {
    if (i % 3 == 1 && i + 2 < log.measurements.size()) {
      log.measurements[i].y[0] = kNan;
    } else {
      without.push_back(log.measurements[i]);
    }
  }
  const auto a = smooth(pendulum, log.prior, log.measurements, {.step = 0.02});
  const auto b = smooth(pendulum, log.prior, without, {.step = 0.02});
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->knots.size(), b->knots.size());
  for (std::size_t k = 0; k < a->knots.size(); ++k) EXPECT_LT((a->knots[k].x - b->knots[k].x).norm(), 1e-12);
  EXPECT_TRUE(std::isnan(a->readings[1].e[0]) && std::isnan(a->readings[1].weight[0]));
  EXPECT_NEAR(a->log_evidence, b->log_evidence, 1e-9);
}

TEST(Smoother, WithoutReadingsThePriorStays) {
  Pendulum pendulum;
  Log log = simulate(pendulum, 2);
  const auto smoothed = smooth(pendulum, log.prior, {});
  ASSERT_TRUE(smoothed) << smoothed.failure().to_string();
  EXPECT_TRUE(smoothed->converged);
  ASSERT_EQ(smoothed->knots.size(), 1);
  EXPECT_EQ(smoothed->knots[0].x, log.prior.x);
  EXPECT_LT((smoothed->knots[0].P - log.prior.P).norm(), 1e-12);
  EXPECT_NEAR(smoothed->log_evidence, 0, 1e-12);
  log.prior.P.resize(0, 0);
  EXPECT_EQ(smooth(pendulum, log.prior, {}).failure().to_string(),
            "error: theta.q at t = 0 s cannot be determined: neither the prior nor any reading says anything of it");
}

TEST(Smoother, TheOrderOfTheMeasurementsDoesNotMatter) {
  Pendulum pendulum;
  const Log log = simulate(pendulum, 2);
  std::vector<Measurement> shuffled = log.measurements;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(1));
  const auto a = smooth(pendulum, log.prior, log.measurements), b = smooth(pendulum, log.prior, shuffled);
  ASSERT_TRUE(a && b);
  EXPECT_LT((a->knots.back().x - b->knots.back().x).norm(), 1e-12);
}

TEST(Smoother, EvidencePrefersTheRightHypothesis) {
  Pendulum right, wrong;
  wrong.k = 12;
  const Log log = simulate(right, 8);
  const auto a = smooth(right, log.prior, log.measurements), b = smooth(wrong, log.prior, log.measurements);
  ASSERT_TRUE(a && b);
  EXPECT_GT(a->log_evidence, b->log_evidence + 2);
}

TEST(Smoother, RefusesWhatDoesNotFit) {
  Pendulum pendulum;
  const Log log = simulate(pendulum, 2, {.duration = 0.1});
  const auto message = [&](const Belief& prior, const std::vector<Measurement>& m, SmootherOptions o = {}) {
    const auto smoothed = smooth(pendulum, prior, m, o);
    EXPECT_FALSE(smoothed);
    return smoothed ? std::string() : smoothed.failure().to_string();
  };
  Belief prior = log.prior;
  prior.t = 0.05;
  EXPECT_EQ(message(prior, log.measurements),
            "error: measurement 1: at t = 0 s, before the start of the estimation at 0.05 s");
  std::vector<Measurement> m = log.measurements;
  m[2].sensor = 2;
  EXPECT_EQ(message(log.prior, m), "error: measurement 3: there is no sensor 2");
  m[2].sensor = 0, m[2].t = kNan;
  EXPECT_EQ(message(log.prior, m), "error: measurement 3: a reading of 'angle' has no finite time");
  EXPECT_EQ(message(log.prior, log.measurements, {.step = 0}), "error: step: must be > 0 and finite, is 0");
  prior = log.prior;
  prior.P(1, 1) = -1;
  EXPECT_EQ(message(prior, log.measurements), "error: prior: the variance of theta.v is negative");
  prior.P = MatrixXd::Identity(3, 3);
  EXPECT_EQ(message(prior, log.measurements), "error: prior: a covariance of 3 × 3, 2 × 2 expected");
  SmootherOptions stop;
  stop.progress = [](double) { return false; };
  EXPECT_EQ(smooth(pendulum, log.prior, log.measurements, stop).failure().kind, Failure::Kind::interrupted);
}

TEST(Smoother, ASingularNoiseIsAlmostAHardRow) {
  // Without process noise the motion follows from its start alone: least squares of two numbers.
  Pendulum pendulum;
  pendulum.linear = true;
  const Log log = simulate(pendulum, 4);
  pendulum.density = 0;
  const auto smoothed = smooth(pendulum, log.prior, log.measurements, {.step = 0.02});
  ASSERT_TRUE(smoothed) << smoothed.failure().to_string();
  EXPECT_TRUE(smoothed->converged) << smoothed->why_not;
  MatrixXd F, Q, all = MatrixXd::Identity(2, 2), information = log.prior.P.inverse();
  VectorXd right = information * log.prior.x, x(2), next(2);
  Chart chart;
  double t = 0;
  for (const Measurement& m : log.measurements) {
    if (m.t > t + 1e-9) {
      pendulum.advance(t, m.t - t, log.prior.x.data(), chart, next.data(), chart, F, Q);
      all = (F * all).eval();
      t = m.t;
    }
    const double sigma = pendulum.sensors()[m.sensor].channels[0].noise;
    information += all.row(m.sensor).transpose() * all.row(m.sensor) / (sigma * sigma);
    right += all.row(m.sensor).transpose() * m.y[0] / (sigma * sigma);
  }
  x = information.inverse() * right;
  EXPECT_LT((smoothed->knots[0].x - x).norm(), 1e-7);
  EXPECT_LT((smoothed->knots[0].P - information.inverse()).norm(), 1e-6 * smoothed->knots[0].P.norm());
}

TEST(Smoother, TheRootOfANoiseIsExactOrFloored) {
  const double h = 1e-4;
  MatrixXd Q(2, 2), L;
  Q << h * h * h / 3, h * h / 2, h * h / 2, h;
  const VectorXd least = VectorXd::Constant(2, 1e-16);
  floored_root(Q, least, L);
  EXPECT_LT(((L * L.transpose() - Q).array() / Q.array()).abs().maxCoeff(), 1e-15);
  floored_root(MatrixXd::Zero(2, 2), least, L);
  EXPECT_LT((L - 1e-8 * MatrixXd::Identity(2, 2)).norm(), 1e-20);
  Q << 1, 1, 1, 1;
  floored_root(Q, least, L);
  EXPECT_NEAR(L(1, 1), 1e-6, 1e-12);
}

TEST(Smoother, LongLogsTakeLinearTime) {
  Pendulum pendulum;
  const Log log = simulate(pendulum, 6, {.duration = 200, .every = 5});
  const auto smoothed = smooth(pendulum, log.prior, log.measurements, {.step = 0.02});
  ASSERT_TRUE(smoothed) << smoothed.failure().to_string();
  EXPECT_TRUE(smoothed->converged) << smoothed->why_not;
  EXPECT_EQ(smoothed->knots.size(), 10001);
  EXPECT_LT(angle_error(log, *smoothed), 0.02);
}

}  // namespace
}  // namespace kinegraph::filter::smoother_test
