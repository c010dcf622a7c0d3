#include "kinegraph/filter/fixed_lag_smoother.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/filter/smoother_cases_test.hpp"
#include "kinegraph/linear/allocations_test.hpp"

namespace kinegraph::filter::fixed_lag_smoother_test {
namespace {

using namespace smoother_cases;

std::unique_ptr<FixedLagSmoother> make(const Pendulum& pendulum, const Belief& prior,
                                       const FixedLagSmootherOptions& options = {.step = 1}) {
  auto made = FixedLagSmoother::make(pendulum.clone(), prior, options);
  EXPECT_TRUE(made) << made.failure().to_string();
  return std::move(*made);
}

void push_all(FixedLagSmoother& smoother, const std::vector<Measurement>& measurements) {
  for (const Measurement& m : measurements) {
    const auto pushed = smoother.push(m);
    ASSERT_TRUE(pushed) << pushed.failure().to_string();
  }
}

TEST(FixedLagSmoother, EqualsKalmanFilterAndRtsSmootherOnALinearSystem) {
  Pendulum pendulum;
  pendulum.linear = true;
  const Log log = simulate(pendulum, 3, {.duration = 1, .every = 3});
  auto smoother = make(pendulum, log.prior, {.window = 6, .step = 1});
  std::vector<Measurement> seen;
  Belief oldest;
  for (const Measurement& m : log.measurements) {
    ASSERT_TRUE(smoother->push(m));
    seen.push_back(m);
    const Rts rts(pendulum, log.prior, seen);
    EXPECT_LT((smoother->belief().x - rts.filtered.back()).norm(), 1e-10) << m.t;
    EXPECT_LT((smoother->belief().P - rts.filtered_P.back()).norm(), 1e-10) << m.t;
    ASSERT_EQ(smoother->knots(), std::min<int>(6, rts.t.size()));
    ASSERT_TRUE(smoother->smoothed(0, oldest, true));
    const std::size_t k = rts.t.size() - smoother->knots();
    EXPECT_EQ(oldest.t, rts.t[k]);
    EXPECT_LT((oldest.x - rts.smoothed[k]).norm(), 1e-10) << m.t;
    EXPECT_LT((oldest.P - rts.smoothed_P[k]).norm(), 1e-10) << m.t;
  }
}

TEST(FixedLagSmoother, WithALongWindowAndIterationsItIsTheBatchSmoother) {
  Pendulum pendulum;
  LogOptions o;
  o.start_angle = 2;
  const Log log = simulate(pendulum, 4, o);
  const auto batch = smooth(pendulum, log.prior, log.measurements, {.step = 1, .tolerance = 1e-9});
  ASSERT_TRUE(batch);
  auto smoother = make(pendulum, log.prior, {.window = 200, .step = 1, .iterations = 4, .relinearise = 0});
  push_all(*smoother, log.measurements);
  Belief knot;
  ASSERT_EQ(smoother->knots(), static_cast<int>(batch->knots.size()));
  for (int k = 0; k < smoother->knots(); ++k) {
    ASSERT_TRUE(smoother->smoothed(k, knot, true));
    EXPECT_LT((knot.x - batch->knots[k].x).norm(), 1e-7) << k;
    EXPECT_LT((knot.P - batch->knots[k].P).norm(), 1e-5 * knot.P.norm()) << k;
  }
}

TEST(FixedLagSmoother, OneIterationAndKeptLinearisationsAreEnough) {
  Pendulum pendulum;
  LogOptions o;
  o.start_angle = 2;
  o.duration = 5;
  const Log log = simulate(pendulum, 4, o);
  auto quick = make(pendulum, log.prior),
       careful = make(pendulum, log.prior, {.step = 1, .iterations = 5, .relinearise = 0});
  double difference = 0;
  for (const Measurement& m : log.measurements) {
    ASSERT_TRUE(quick->push(m));
    ASSERT_TRUE(careful->push(m));
    if (m.t < 0.5) continue;
    const MatrixXd& P = careful->belief().P;
    const VectorXd e = quick->belief().x - careful->belief().x;
    difference = std::max(difference, std::sqrt(e.dot(P.inverse() * e)));
  }
  EXPECT_LT(difference, 0.02);  // standard deviations
  EXPECT_LT(quick->linearisations(), 3 * static_cast<long>(log.t.size()));
}

TEST(FixedLagSmoother, LateReadingsGiveTheSameAnswer) {
  Pendulum pendulum;
  pendulum.linear = true;
  const Log log = simulate(pendulum, 7, {.duration = 1, .every = 2});
  auto ordered = make(pendulum, log.prior), late = make(pendulum, log.prior);
  push_all(*ordered, log.measurements);
  // Every seventh reading comes three steps late; most of them have a knot to themselves then.
  std::vector<Measurement> waiting;
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < log.measurements.size(); ++i) {
    const Measurement& m = log.measurements[i];
    if ((i % 7 == 3 || i % 7 == 4) && i + 10 < log.measurements.size()) {
      waiting.push_back(m);
      due.push_back(i + 5);
    } else {
      ASSERT_TRUE(late->push(m));
    }
    while (!due.empty() && due.front() <= i) {
      const auto pushed = late->push(waiting.front());
      ASSERT_TRUE(pushed) << pushed.failure().to_string();
      waiting.erase(waiting.begin());
      due.erase(due.begin());
    }
  }
  ASSERT_TRUE(waiting.empty());
  EXPECT_LT((ordered->belief().x - late->belief().x).norm(), 1e-6);
  EXPECT_LT((ordered->belief().P - late->belief().P).norm(), 1e-6 * ordered->belief().P.norm());
}

TEST(FixedLagSmoother, ALateReadingSplitsAnInterval) {
  Pendulum pendulum;
  pendulum.linear = true;
  const Log log = simulate(pendulum, 7, {.duration = 0.1, .rate = false});  // knots 0 … 0.1 by 0.02
  auto ordered = make(pendulum, log.prior), late = make(pendulum, log.prior);
  const auto skipped = [](int i) { return i == 1 || i == 2 || i == 4; };
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(ordered->push(log.measurements[i]));
    if (skipped(i)) continue;
    ASSERT_TRUE(late->push(log.measurements[i]));
  }
  EXPECT_EQ(late->knots(), 3);
  for (const int i : {2, 4, 1}) ASSERT_TRUE(late->push(log.measurements[i]));
  EXPECT_EQ(late->knots(), 6);
  Belief a, b;
  for (int k = 0; k < 6; ++k) {
    ASSERT_TRUE(ordered->smoothed(k, a, true));
    ASSERT_TRUE(late->smoothed(k, b, true));
    EXPECT_NEAR(a.t, b.t, 1e-15);
    EXPECT_LT((a.x - b.x).norm(), 1e-11) << k;
    EXPECT_LT((a.P - b.P).norm(), 1e-11) << k;
  }
}

TEST(FixedLagSmoother, ALateReadingInAFullWindowPushesTheOldestOut) {
  Pendulum pendulum;
  const Log log = simulate(pendulum, 7, {.duration = 1, .rate = false});
  auto smoother = make(pendulum, log.prior, {.window = 4, .step = 1});
  for (std::size_t i = 0; i < 20; ++i) {
    if (i == 17) continue;
    ASSERT_TRUE(smoother->push(log.measurements[i]));
  }
  EXPECT_EQ(smoother->knots(), 4);
  EXPECT_NEAR(smoother->knot_time(0), 0.30, 1e-12);
  ASSERT_TRUE(smoother->push(log.measurements[17]));
  EXPECT_EQ(smoother->knots(), 4);
  EXPECT_NEAR(smoother->knot_time(0), 0.32, 1e-12);
  const auto refused = smoother->push(log.measurements[10]);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().to_string(),
            "error: the reading of 'angle' at t = 0.2 s came 0.18 s late; readings are kept for 0.06 s");
  EXPECT_NEAR(smoother->belief().x[0], log.truth[19][0], 0.1);
}

/// Root mean square errors of the angle after the first 0.3 s: of the newest knot, and of the oldest in the window.
Eigen::Vector2d errors(const Pendulum& pendulum, const Log& log, const Loss& loss) {
  auto smoother = make(pendulum, log.prior, {.step = 1, .loss = loss});
  Belief oldest;
  Eigen::Vector2d sum = Eigen::Vector2d::Zero();
  int count = 0;
  for (std::size_t i = 0; i < log.measurements.size(); ++i) {
    EXPECT_TRUE(smoother->push(log.measurements[i]));
    const std::size_t k = i / 2;  // two readings per knot
    if (i % 2 == 0 || log.t[k] < 0.3) continue;
    EXPECT_TRUE(smoother->smoothed(0, oldest));
    sum[0] += std::pow(smoother->belief().x[0] - log.truth[k][0], 2);
    sum[1] += std::pow(oldest.x[0] - log.truth[k - 9][0], 2);
    ++count;
  }
  return (sum / count).cwiseSqrt();
}

TEST(FixedLagSmoother, GrossOutliersDoNotMatterToARobustLoss) {
  Pendulum pendulum;
  for (const Loss& loss : {Loss::cauchy(2), Loss::tukey(4.685), Loss::geman_mcclure(3)}) {
    Eigen::Array2d clean(0, 0), robust(0, 0), plain(0, 0);
    for (int seed = 0; seed < 20; ++seed) {
      LogOptions o;
      const Log good = simulate(pendulum, seed, o);
      o.outliers = 0.05;
      const Log bad = simulate(pendulum, seed, o);
      clean += errors(pendulum, good, Loss::none()).array();
      plain += errors(pendulum, bad, Loss::none()).array();
      robust += errors(pendulum, bad, loss).array();
    }
    EXPECT_TRUE((robust < 1.2 * clean).all()) << (robust / clean).transpose();
    EXPECT_TRUE((plain > 3 * clean).all()) << (plain / clean).transpose();
  }
}

TEST(FixedLagSmoother, AnOutlierThatComesFirstDoesNotShutOutTheRest) {
  Pendulum pendulum;
  for (const Loss& loss : {Loss::tukey(4.685), Loss::geman_mcclure(3)}) {
    Log log = simulate(pendulum, 11);
    log.measurements[0].y[0] += 0.6;
    auto smoother = make(pendulum, log.prior, {.step = 1, .loss = loss});
    push_all(*smoother, {log.measurements.begin(), log.measurements.begin() + 30});
    EXPECT_LT(nees(smoother->belief().x, smoother->belief().P, log.truth[14]), 10);
  }
}

TEST(FixedLagSmoother, APushAllocatesNothing) {
  if (!linear::test::allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  Pendulum pendulum;
  const Log log = simulate(pendulum, 3, {.duration = 4, .outliers = 0.02});
  for (const Loss& loss : {Loss::none(), Loss::tukey(4.685)}) {
    auto smoother = make(pendulum, log.prior, {.step = 0.012, .loss = loss});
    double nis = 0;
    smoother->on_innovation = [&](const Innovation& i) { nis += i.nis; };
    Belief oldest;
    long before = 0;
    for (std::size_t i = 0; i < log.measurements.size(); ++i) {
      if (i == 50) before = linear::test::allocations();
      (void)smoother->push(log.measurements[i]);
      smoother->smoothed(0, oldest, true);
    }
    EXPECT_EQ(linear::test::allocations() - before, 0);
    EXPECT_GT(nis, 0);
  }
}

TEST(FixedLagSmoother, IsAsUncertainAsItIsWrong) {
  Pendulum pendulum;
  const int seeds = 200;
  double newest = 0, oldest = 0, nis = 0;
  int rows = 0;
  Belief knot;
  for (int seed = 0; seed < seeds; ++seed) {
    const Log log = simulate(pendulum, seed, {.duration = 1});
    auto smoother = make(pendulum, log.prior);
    smoother->on_innovation = [&](const Innovation& i) { nis += i.nis, rows += i.rows; };
    push_all(*smoother, log.measurements);
    newest += nees(smoother->belief().x, smoother->belief().P, log.truth.back()) / seeds;
    ASSERT_TRUE(smoother->smoothed(0, knot, true));
    oldest += nees(knot.x, knot.P, log.truth[log.truth.size() - 10]) / seeds;
  }
  EXPECT_NEAR(newest, 2, 0.277);  // 95 % of χ²₄₀₀ / 200
  EXPECT_NEAR(oldest, 2, 0.277);
  EXPECT_EQ(rows, 200 * 102);
  EXPECT_NEAR(nis / rows, 1, 1.96 * std::sqrt(2.0 / rows));
}

TEST(FixedLagSmoother, LongGapsAreFollowedInSteps) {
  Pendulum pendulum;
  const Log log = simulate(pendulum, 1, {.duration = 1, .h = 0.1});
  auto coarse = make(pendulum, log.prior, {.step = 0.02}), fine = make(pendulum, log.prior, {.step = 0.005});
  push_all(*coarse, log.measurements);
  push_all(*fine, log.measurements);
  EXPECT_EQ(coarse->knots(), 10);
  EXPECT_LT((coarse->belief().P - fine->belief().P).norm(), 0.01 * fine->belief().P.norm());
  ASSERT_TRUE(coarse->advance(1.5));
  ASSERT_TRUE(fine->advance(1.5));
  EXPECT_EQ(coarse->t(), 1.5);
  EXPECT_LT((coarse->belief().P - fine->belief().P).norm(), 0.01 * fine->belief().P.norm());
  EXPECT_LT((coarse->belief().x - fine->belief().x).norm(), 1e-3);
}

TEST(FixedLagSmoother, MissingSamplesSayNothing) {
  Pendulum pendulum;
  const Log log = simulate(pendulum, 2, {.duration = 0.5});
  auto all = make(pendulum, log.prior), without = make(pendulum, log.prior);
  for (std::size_t i = 0; i < log.measurements.size(); ++i) {
    Measurement m = log.measurements[i];
    if (i % 3 == 1) {
      m.y[0] = std::numeric_limits<double>::quiet_NaN();
      ASSERT_TRUE(without->advance(m.t));
    } else {
      ASSERT_TRUE(without->push(m));
    }
    ASSERT_TRUE(all->push(m));
  }
  EXPECT_EQ(all->belief().x, without->belief().x);
  EXPECT_EQ(all->belief().P, without->belief().P);
}

// A reading that is refused is forgotten, late or not, as often as it comes.
TEST(FixedLagSmoother, WhatFailsLeavesNothingBehind) {
  Pendulum pendulum;
  const Log log = simulate(pendulum, 2, {.duration = 0.5});
  auto disturbed = make(pendulum, log.prior), plain = make(pendulum, log.prior);
  for (std::size_t i = 0; i < log.measurements.size(); ++i) {
    const Measurement& m = log.measurements[i];
    ASSERT_TRUE(disturbed->push(m) && plain->push(m));
    if (i % 10 != 9) continue;
    for (const double back : {0.0, 0.011, 0.012, 0.013}) {
      Measurement absurd = m;
      absurd.t -= back;
      absurd.y[0] = 1e200;  // finite, but not its square
      EXPECT_FALSE(disturbed->push(absurd));
      EXPECT_LE(disturbed->knots(), 10);
      EXPECT_TRUE(disturbed->belief().x.allFinite() && disturbed->belief().P.allFinite());
    }
  }
  EXPECT_LT((disturbed->belief().x - plain->belief().x).norm(), 0.05 * std::sqrt(plain->belief().P.trace()));
  EXPECT_LT((disturbed->belief().P - plain->belief().P).norm(), 0.05 * plain->belief().P.norm());
}

TEST(FixedLagSmoother, StartsWithoutKnowingAnything) {
  Pendulum pendulum;
  Log log = simulate(pendulum, 2);
  log.prior.P.resize(0, 0);
  log.prior.x = Eigen::Vector2d(0, 0);
  auto smoother = make(pendulum, log.prior);
  EXPECT_TRUE(std::isinf(smoother->belief().P(0, 0)));
  push_all(*smoother, log.measurements);
  EXPECT_LT(nees(smoother->belief().x, smoother->belief().P, log.truth.back()), 10);
}

TEST(FixedLagSmoother, RefusesWhatDoesNotFit) {
  Pendulum pendulum;
  const Log log = simulate(pendulum, 2, {.duration = 0.1});
  const auto fault = [&](FixedLagSmootherOptions o) {
    return FixedLagSmoother::make(pendulum.clone(), log.prior, o).failure().to_string();
  };
  EXPECT_EQ(fault({.window = 1}), "error: window must be at least 2, not 1");
  EXPECT_EQ(fault({.step = 0}), "error: step must be positive, not 0 s");
  EXPECT_EQ(fault({.iterations = 0}), "error: iterations must be at least 1, not 0");
  auto smoother = make(pendulum, log.prior);
  Measurement m = log.measurements[0];
  m.sensor = 5;
  EXPECT_EQ(smoother->push(m).failure().to_string(), "error: there is no sensor 5");
  m = log.measurements[0];
  m.t = -1;
  EXPECT_EQ(smoother->push(m).failure().to_string(),
            "error: the reading of 'angle' at t = -1 s came 1 s late; none are kept");
}

}  // namespace
}  // namespace kinegraph::filter::fixed_lag_smoother_test
