#include "kinegraph/filter/particle_filter.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "kinegraph/filter/particle_toys_test.hpp"
#include "kinegraph/linear/allocations_test.hpp"

namespace kinegraph::filter::particle_filter_test {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;

Measurement reading(double t, int sensor, double y) {
  Measurement m;
  m.t = t;
  m.sensor = sensor;
  m.y.fill(std::numeric_limits<double>::quiet_NaN());
  m.y[0] = y;
  return m;
}

std::vector<Particle> normal_start(int n, const Vector2d& mean, const Vector2d& sd, std::uint64_t seed) {
  std::vector<Particle> start(n);
  Random random(seed, 77);
  for (Particle& p : start) {
    p.x = mean;
    for (int i = 0; i < 2; ++i) p.x[i] += sd[i] * random.normal();
  }
  return start;
}

std::unique_ptr<ParticleFilter> make(const StateSpace& space, const std::vector<Particle>& start,
                                     const ParticleOptions& options, int branches = 1) {
  auto filter = ParticleFilter::create(space, 0, start, branches, options);
  EXPECT_TRUE(filter) << (filter ? "" : filter.failure().to_string());
  return std::move(*filter);
}

/// The truth with noise, and its readings every `every` seconds.
struct Log {
  std::vector<Vector2d> truth;
  std::vector<Measurement> readings;
};
Log simulate(Pendulum space, Vector2d x, int sensor, double every, int count, std::uint64_t seed) {
  Log log;
  Random random(seed, 1);
  constexpr int fine = 4;
  for (int k = 1; k <= count; ++k) {
    for (int j = 0; j < fine; ++j) {
      const double h = every / fine;
      Vector2d next;
      space.advance(0, h, x.data(), next.data());
      double n[2];
      random.normal(n, 2);
      space.disturb(0, h, next.data(), n);
      x = next;
    }
    log.truth.push_back(x);
    log.readings.push_back(
        reading(k * every, sensor, x[sensor] + space.sensors()[sensor].channels[0].noise * random.normal()));
  }
  return log;
}

/// A Kalman filter for the linear pendulum, and the log-density of its readings.
struct Kalman {
  Pendulum space;
  Vector2d x;
  Matrix2d P;
  double evidence = 0;
  void move(double h, int steps) {
    for (int k = 0; k < steps; ++k) {
      Chart chart;
      MatrixXd F, Q;
      Vector2d next;
      space.advance(0, h, x.data(), chart, next.data(), chart, F, Q);
      x = next;
      P = F * P * F.transpose() + Q;
    }
  }
  void take(const Measurement& m) {
    const double sd = space.sensors()[m.sensor].channels[0].noise, e = m.y[0] - x[m.sensor];
    const double S = P(m.sensor, m.sensor) + sd * sd;
    const Vector2d K = P.col(m.sensor) / S;
    x += K * e;
    P -= K * P.row(m.sensor);
    evidence -= 0.5 * (e * e / S + std::log(2 * M_PI * S));
  }
};

class Proposals : public testing::TestWithParam<Proposal> {};
INSTANTIATE_TEST_SUITE_P(Both, Proposals, testing::Values(Proposal::prior, Proposal::optimal));

// Mean, covariance and evidence of the linear system against the Kalman filter.
TEST_P(Proposals, AgreeWithTheKalmanFilterWhereItIsExact) {
  Pendulum space;
  space.linear = true;
  space.density = 2;
  const Vector2d sd(0.1, 0.3), mean(0.4, 0);
  const Log log = simulate(space, {0.45, -0.2}, 0, 0.02, 50, 3);
  ParticleOptions options;
  options.step = 0.01;
  options.noise_steps = 1;
  options.proposal = GetParam();
  const auto filter = make(space, normal_start(8000, mean, sd, 5), options);
  Kalman kalman{space, mean, sd.cwiseAbs2().asDiagonal()};
  for (const Measurement& m : log.readings) {
    ASSERT_TRUE(filter->push(m));
    kalman.move(0.01, 2);
    kalman.take(m);
  }
  const Belief& belief = filter->belief();
  const Vector2d spread = kalman.P.diagonal().cwiseSqrt();
  EXPECT_NEAR(belief.t, 1, 1e-12);
  EXPECT_NEAR(belief.x[0], kalman.x[0], 0.07 * spread[0]);
  EXPECT_NEAR(belief.x[1], kalman.x[1], 0.07 * spread[1]);
  EXPECT_NEAR(belief.P(0, 0) / kalman.P(0, 0), 1, 0.08);
  EXPECT_NEAR(belief.P(1, 1) / kalman.P(1, 1), 1, 0.08);
  EXPECT_NEAR(belief.P(0, 1), kalman.P(0, 1), 0.08 * spread[0] * spread[1]);
  EXPECT_NEAR(filter->log_evidence(), kalman.evidence, 0.5);
  EXPECT_EQ(filter->branches(), std::vector<double>{1.0});
}

// Two sensors at the same time: whichever way they come, one after the other or after advance() to that time.
TEST(ParticleFilter, StacksReadingsOfTheSameTime) {
  Pendulum space;
  space.linear = true;
  space.density = 2;
  const Vector2d sd(0.1, 0.3), mean(0.4, 0);
  const Log log = simulate(space, {0.45, -0.2}, 0, 0.02, 25, 4);
  Random random(9);
  ParticleOptions options;
  options.step = 0.02;
  const auto start = normal_start(6000, mean, sd, 5);
  const auto one = make(space, start, options), other = make(space, start, options);
  Kalman kalman{space, mean, sd.cwiseAbs2().asDiagonal()};
  for (std::size_t k = 0; k < log.readings.size(); ++k) {
    const Measurement& angle = log.readings[k];
    const Measurement rate = reading(angle.t, 1, log.truth[k][1] + 0.05 * random.normal());
    kalman.move(0.02, 1);
    kalman.take(angle);
    kalman.take(rate);
    ASSERT_TRUE(one->push(angle));
    ASSERT_TRUE(one->push(rate));
    ASSERT_TRUE(other->advance(angle.t));
    ASSERT_TRUE(other->push(angle));
    other->belief();
    ASSERT_TRUE(other->push(rate));
  }
  const Vector2d spread = kalman.P.diagonal().cwiseSqrt();
  EXPECT_NEAR(one->belief().x[0], kalman.x[0], 0.06 * spread[0]);
  EXPECT_NEAR(one->belief().x[1], kalman.x[1], 0.06 * spread[1]);
  EXPECT_NEAR(one->belief().P(1, 1) / kalman.P(1, 1), 1, 0.08);
  EXPECT_NEAR(one->log_evidence(), kalman.evidence, 0.5);
  EXPECT_EQ(one->belief().x, other->belief().x);
  EXPECT_EQ(one->belief().P, other->belief().P);
}

// A precise rate sensor and strong noise: the prior wastes most particles, the optimal proposal none.
TEST(ParticleFilter, OptimalProposalBeatsThePriorWithAsManyParticles) {
  Pendulum space;
  space.density = 3;
  space.mutable_sensors()[1].channels[0].noise = 0.005;
  double error[2] = {}, effective[2] = {};
  long resamplings[2] = {};
  for (int seed = 0; seed < 5; ++seed) {
    const Log log = simulate(space, {1, 0}, 1, 0.01, 200, seed);
    for (Proposal proposal : {Proposal::prior, Proposal::optimal}) {
      ParticleOptions options;
      options.step = 0.01;
      options.proposal = proposal;
      options.kernel = 0;
      options.seed = seed;
      const auto filter = make(space, normal_start(50, {1, 0}, {0.02, 0.02}, seed + 100), options);
      const int which = proposal == Proposal::optimal;
      for (std::size_t k = 0; k < log.readings.size(); ++k) {
        ASSERT_TRUE(filter->push(log.readings[k]));
        effective[which] += filter->effective_particles();
        error[which] +=
            (Vector2d(filter->belief().x) - log.truth[k])[1] * (Vector2d(filter->belief().x) - log.truth[k])[1];
      }
      resamplings[which] += filter->resamplings();
    }
  }
  EXPECT_GT(effective[1], 3 * effective[0]);
  EXPECT_LT(error[1], 0.5 * error[0]);
  EXPECT_LT(resamplings[1], 0.5 * resamplings[0]);
}

// The angle is anywhere on the circle and only the rate is seen. Still, it comes out right: gravity tells.
TEST_P(Proposals, FindAnAngleFromItsRateAlone) {
  Pendulum space;
  space.density = 0.2;
  for (double angle : {-2.5, 0.7, 2.0}) {
    const Log log = simulate(space, {angle, 0}, 1, 0.01, 300, 21);
    std::vector<Particle> start(500);
    for (std::size_t i = 0; i < start.size(); ++i)
      start[i].x = Vector2d(-M_PI + 2 * M_PI * (i + 0.5) / start.size(), 0);
    ParticleOptions options;
    options.step = 0.005;
    options.proposal = GetParam();
    const auto filter = make(space, start, options);
    for (const Measurement& m : log.readings) ASSERT_TRUE(filter->push(m));
    const double wrong = std::remainder(filter->belief().x[0] - log.truth.back()[0], 2 * M_PI);
    const double sd = std::sqrt(filter->belief().P(0, 0));
    EXPECT_LT(std::abs(wrong), 0.1) << angle;
    EXPECT_LT(std::abs(wrong), 5 * sd) << angle;
    EXPECT_LT(sd, 0.05) << angle;
  }
}

// Particles degrees apart, a sensor that resolves a hundredth of that, no process noise to speak of: copies of the
// nearest particle stay wrong for good, kernels find the place between the particles. (One of ten ends at π − θ, where
// the pendulum starts alike: kernels do not bring back a peak that has died.)
TEST(ParticleFilter, KernelsFindWhatLiesBetweenTheParticles) {
  Pendulum space;
  space.density = 0.001;
  space.mutable_sensors()[1].channels[0].noise = 1e-3;
  int right[2] = {}, calibrated = 0;
  for (int seed = 0; seed < 10; ++seed) {
    const Log log = simulate(space, {0.2 + 0.23 * seed, 0}, 1, 0.01, 150, seed);
    std::vector<Particle> start(100);
    for (std::size_t i = 0; i < start.size(); ++i) start[i].x = Vector2d(2 * M_PI * (i / 100.0 - 0.5), 0);
    for (int kernel : {0, 1}) {
      ParticleOptions options;
      options.step = 0.01;
      options.kernel = kernel;
      const auto filter = make(space, start, options);
      for (const Measurement& m : log.readings) ASSERT_TRUE(filter->push(m));
      const double wrong = std::abs(filter->belief().x[0] - log.truth.back()[0]);
      right[kernel] += wrong < 0.003;
      if (kernel == 1) calibrated += wrong < 4 * std::sqrt(filter->belief().P(0, 0));
    }
  }
  EXPECT_LE(right[0], 5);
  EXPECT_GE(right[1], 9);
  EXPECT_GE(calibrated, 9);
}

// Without readings the spread is that of the process noise, whatever the steps and however the noise is gathered.
TEST(ParticleFilter, SpreadDoesNotDependOnTheStep) {
  Pendulum space;
  space.linear = true;
  const Vector2d mean(0.3, 0);
  Kalman kalman{space, mean, Matrix2d::Zero()};
  kalman.move(0.0005, 1000);
  for (auto [step, at_once] : {std::pair{0.02, 1}, {0.005, 1}, {0.002, 1}, {0.005, 4}}) {
    std::vector<Particle> start(2000);
    for (Particle& p : start) p.x = mean;
    ParticleOptions options;
    options.step = step;
    options.noise_steps = at_once;
    const auto filter = make(space, start, options);
    ASSERT_TRUE(filter->advance(0.5));
    const Belief& belief = filter->belief();
    EXPECT_NEAR(belief.P(0, 0) / kalman.P(0, 0), 1, 0.1) << step;
    EXPECT_NEAR(belief.P(1, 1) / kalman.P(1, 1), 1, 0.1) << step;
    EXPECT_EQ(filter->resamplings(), 0);
  }
}

std::vector<double> numbers(const ParticleFilter& filter) {
  std::vector<double> all = filter.branches();
  filter.visit([&](const double* x, double weight, int branch) {
    all.insert(all.end(), {x[0], x[1], weight, double(branch)});
  });
  all.insert(all.end(), filter.belief().x.begin(), filter.belief().x.end());
  all.insert(all.end(), filter.belief().P.data(), filter.belief().P.data() + 4);
  all.push_back(filter.log_evidence());
  return all;
}

TEST(ParticleFilter, GivesTheSameBitsWithAnyNumberOfThreads) {
  Pendulum space;
  const Log log = simulate(space, {1, 0}, 1, 0.01, 40, 2);
  auto start = normal_start(1000, {1, 0}, {0.5, 0.5}, 1);
  for (std::size_t i = 0; i < start.size(); ++i) start[i].branch = static_cast<int>(i % 3);
  std::vector<double> first;
  for (int threads : {1, 2, 3}) {
    ParticleOptions options;
    options.step = 0.003;
    options.threads = threads;
    const auto filter = make(space, start, options, 3);
    double told = 0;
    filter->on_innovation = [&](const Innovation& i) { told += i.e[0] + i.nis; };
    for (const Measurement& m : log.readings) ASSERT_TRUE(filter->push(m));
    EXPECT_GT(filter->resamplings(), 0);
    std::vector<double> all = numbers(*filter);
    all.push_back(told);
    if (first.empty()) first = all;
    EXPECT_EQ(first, all) << threads;
  }
}

TEST(ParticleFilter, GoesOnFromASnapshotAsBefore) {
  Pendulum space;
  const Log log = simulate(space, {1, 0}, 1, 0.01, 60, 2);
  const auto filter = make(space, normal_start(300, {1, 0}, {0.5, 0.5}, 1), {});
  const auto kept = filter->snapshot();
  for (int k = 0; k < 30; ++k) ASSERT_TRUE(filter->push(log.readings[k]));
  filter->save(*kept);
  for (int k = 30; k < 60; ++k) ASSERT_TRUE(filter->push(log.readings[k]));
  const std::vector<double> once = numbers(*filter);
  filter->restore(*kept);
  EXPECT_NEAR(filter->t(), 0.3, 1e-12);
  for (int k = 30; k < 60; ++k) ASSERT_TRUE(filter->push(log.readings[k]));
  EXPECT_EQ(once, numbers(*filter));
}

// Nothing tells the branches apart at first (at rest at the bottom); pooled resampling lets one drift away, stratified
// resampling keeps both even. Later the right one wins, and the other is given up.
TEST(ParticleFilter, BranchesLiveUntilTheReadingsDecide) {
  TwoPendulums space;
  space.a.density = 0.02;
  Pendulum truth;
  truth.density = 0.02;
  const auto start = [&] {
    std::vector<Particle> particles(60);
    for (std::size_t i = 0; i < particles.size(); ++i) {
      particles[i].branch = static_cast<int>(i % 2);
      particles[i].x = Eigen::Vector3d(0.8 + 0.002 * (static_cast<int>(i / 2) - 15), 0, i % 2 == 0 ? 9.81 : 9.4);
    }
    return particles;
  }();
  const Log log = simulate(truth, {0.8, 0}, 1, 0.01, 400, 8);
  int right = 0;
  for (int seed = 0; seed < 20; ++seed) {
    ParticleOptions options;
    options.step = 0.01;
    options.seed = seed;
    const auto filter = make(space, start, options, 2);
    for (int k = 0; k < 10; ++k) ASSERT_TRUE(filter->push(log.readings[k]));
    EXPECT_GT(filter->branches()[1], 0.02);
    for (int k = 10; k < 400; ++k) ASSERT_TRUE(filter->push(log.readings[k]));
    right += filter->branches()[0] > 0.99 && filter->belief().branch == 0;
    if (filter->branches()[0] == 1) {
      int others = 0;
      filter->visit([&](const double*, double, int branch) { others += branch != 0; });
      EXPECT_EQ(others, 0);
    }
  }
  EXPECT_EQ(right, 20);
}

TEST(ParticleFilter, TellsInnovationsThatFitTheirSpread) {
  Pendulum space;
  space.density = 2;
  const Log log = simulate(space, {0.5, 0}, 0, 0.01, 300, 6);
  for (Proposal proposal : {Proposal::prior, Proposal::optimal}) {
    ParticleOptions options;
    options.step = 0.01;
    options.proposal = proposal;
    const auto filter = make(space, normal_start(500, {0.5, 0}, {0.02, 0.1}, 3), options);
    double nis = 0;
    int told = 0;
    filter->on_innovation = [&](const Innovation& i) {
      EXPECT_NEAR(i.nis, i.e[0] * i.e[0] / (i.sd[0] * i.sd[0]), 1e-9);
      EXPECT_EQ(i.rows, 1);
      nis += i.nis, ++told;
    };
    for (const Measurement& m : log.readings) ASSERT_TRUE(filter->push(m));
    EXPECT_EQ(told, 300);
    EXPECT_NEAR(nis / told, 1, 0.3);
  }
}

TEST(ParticleFilter, AllocatesNothingOnceItRuns) {
  if (!linear::test::allocations_are_counted()) GTEST_SKIP() << "the address sanitizer owns malloc";
  Quiet space;
  auto start = normal_start(100, {1, 0}, {0.5, 0.5}, 1);
  for (std::size_t i = 0; i < start.size(); ++i) start[i].branch = static_cast<int>(i % 2);
  const auto filter = make(space, start, {}, 2);
  const auto kept = filter->snapshot();
  const auto run = [&](int from, int to) {
    for (int k = from; k < to; ++k) {
      ASSERT_TRUE(filter->push(reading(0.003 * k, 0, 0.1 * std::sin(0.1 * k))));
      ASSERT_TRUE(filter->push(reading(0.003 * k, 0, 0.1 * std::sin(0.1 * k))));
      filter->belief();
      filter->save(*kept);
    }
  };
  run(1, 100);
  const long resamplings = filter->resamplings(), before = linear::test::allocations();
  run(100, 300);
  EXPECT_EQ(linear::test::allocations(), before);
  EXPECT_GT(filter->resamplings(), resamplings);
}

// Every stage costs something, and all together not more than the pushes; a stage that is not there costs next to
// nothing.
TEST(ParticleFilter, TellsWhereItsTimeGoes) {
  const Pendulum space;
  const Log log = simulate(space, Vector2d(0.5, 0), 0, 0.01, 50, 4);
  ParticleOptions options;
  options.resample = 1;
  const auto filter = make(space, normal_start(200, Vector2d(0.5, 0), Vector2d(0.1, 0.1), 1), options);
  const auto begin = std::chrono::steady_clock::now();
  for (const Measurement& m : log.readings) ASSERT_TRUE(filter->push(m));
  const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const ParticleFilter::StageTimes& times = filter->stage_times();
  EXPECT_GT(times.move, 0);
  EXPECT_GT(times.normalise, 0);
  EXPECT_GT(times.resample, 0);
  EXPECT_LE(times.move + times.normalise + times.resample, all);
}

TEST(ParticleFilter, RefusesWhatMakesNoSense) {
  Pendulum space;
  EXPECT_EQ(ParticleFilter::create(space, 0, {}, 1, {}).failure().to_string(),
            "error: particles: there is none to start from");
  ParticleOptions options;
  options.step = 0;
  EXPECT_EQ(ParticleFilter::create(space, 0, normal_start(5, {0, 0}, {1, 1}, 0), 1, options).failure().to_string(),
            "error: step: must be > 0, is 0");
  const auto filter = make(space, normal_start(5, {0, 0}, {1, 1}, 0), {});
  ASSERT_TRUE(filter->push(reading(0, 0, 0.1)));
  ASSERT_TRUE(filter->push(reading(0.1, 1, 0.1)));
  EXPECT_EQ(filter->push(reading(0.05, 1, 0)).failure().to_string(),
            "error: a reading of t = 0.05 came after the estimate had reached t = 0.1");
  EXPECT_EQ(filter->push(reading(0.2, 7, 0)).failure().to_string(), "error: there is no sensor 7");
  EXPECT_FALSE(filter->advance(0.05));
  EXPECT_FALSE(filter->advance(std::nan("")));
  // A reading without numbers changes nothing but the time; one that is far off is still survived.
  ASSERT_TRUE(filter->push(reading(0.2, 1, std::nan(""))));
  ASSERT_TRUE(filter->push(reading(0.3, 1, 1e6)));
  EXPECT_TRUE(filter->belief().x.allFinite());
  EXPECT_TRUE(filter->belief().P.allFinite());
}

}  // namespace
}  // namespace kinegraph::filter::particle_filter_test
