#include "experiments/known_start.hpp"

#include <tbb/parallel_for.h>

#include <cmath>

#include "bench/clock.hpp"
#include "experiments/gyroscope_fourbar.hpp"
#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/consistency.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/fixed_lag_smoother.hpp"
#include "kinegraph/filter/smoother.hpp"
#include "kinegraph/filter/ukf.hpp"

namespace kinegraph::experiments {
namespace {

using namespace kinegraph::filter;
using bench::thread_seconds;
using Log = KnownStart::Log;
using Told = KnownStart::Told;

task::Machine machine(double density, ChartKind chart) {
  task::MachineSettings settings;
  settings.process = {{"theta", density}};
  settings.chart = chart;
  return bench::require(task::make_machine(fourbar(), settings), "machine");
}

void feed(Estimator& estimator, const Log& log, const Told& told) {
  for (std::size_t i = 0; i < log.readings.size(); ++i) {
    if (!estimator.push(log.readings[i])) return;  // counts as not converged
    const bool last = i + 1 == log.readings.size() || log.readings[i + 1].t > log.readings[i].t;
    if (last) told(static_cast<int>(std::lround(log.readings[i].t / KnownStart::kStep)), estimator.belief());
  }
}

/// The same prior in a chart of the other kind.
Belief in_chart_of(StateSpace& space, const Belief& prior) {
  Belief other = prior;
  MatrixXd T;
  other.chart = {};
  space.choose(0, prior.x.data(), other.chart);
  space.transition(0, prior.x.data(), prior.chart, other.chart, T);
  other.P = T * prior.P * T.transpose();
  return other;
}

template <class Filter>
void run_kalman(const task::Machine& machine, const Log& log, const Told& told) {
  KalmanOptions options;
  options.step = KnownStart::kStep;
  auto space = machine.space->clone();
  const Belief prior = in_chart_of(*space, log.prior);
  auto filter = Filter::make(std::move(space), prior, options);
  if (filter) feed(**filter, log, told);
}

void run_particles(const task::Machine& machine, Proposal proposal, int particles, const Log& log, const Told& told) {
  ParticleOptions options;
  options.step = KnownStart::kStep;
  options.proposal = proposal;
  Random random(7, 7);
  const std::unique_ptr<StateSpace> space = machine.space->clone();
  std::vector<Particle> start;
  for (int i = 0; i < particles; ++i) {
    Particle p{log.prior.x, 0, 0};
    const double delta[2] = {std::sqrt(log.prior.P(0, 0)) * random.normal(),
                             std::sqrt(log.prior.P(1, 1)) * random.normal()};
    space->retract(0, log.prior.x.data(), log.prior.chart, delta, p.x.data());
    start.push_back(std::move(p));
  }
  auto filter = ParticleFilter::create(*machine.space, 0, start, 1, options);
  if (filter) feed(**filter, log, told);
}

void run_lag(const task::Machine& machine, const Log& log, const Told& told) {
  FixedLagSmootherOptions options;
  options.step = KnownStart::kStep;
  auto smoother = FixedLagSmoother::make(machine.space->clone(), log.prior, options);
  if (smoother) feed(**smoother, log, told);
}

void run_batch(const task::Machine& machine, const Log& log, const Told& told) {
  SmootherOptions options;
  options.step = KnownStart::kStep;
  const auto space = machine.space->clone();
  const Result<Smoothed> smoothed = smooth(*space, log.prior, log.readings, options);
  if (!smoothed) return;
  for (std::size_t k = 1; k < smoothed->knots.size(); ++k) told(static_cast<int>(k), smoothed->knots[k]);
}

}  // namespace

KnownStart::KnownStart(double density, int seeds, int steps, bool compiled)
    : steps_(steps),
      machine_(machine(density, ChartKind::independent)),
      manifold_(machine(density, ChartKind::manifold)),
      for_particles_(machine(density, ChartKind::independent)),
      compiled_(compiled && compile_particles(for_particles_)) {
  while (machine_.plant().column_name(crank_) != "theta") ++crank_;
  const ChiSquaredAverage band = chi_squared_average(2.0 * seeds, 2.0 * seeds);
  low_ = band.low;
  high_ = band.high;
  for (int seed = 0; seed < seeds; ++seed) logs_.push_back(make_log(seed));
}

KnownStart::Log KnownStart::make_log(int seed) const {
  const std::unique_ptr<StateSpace> space = machine_.space->clone();
  Random random(seed, 5);
  Log log;
  log.prior.x = machine_.space->state(machine_.q, machine_.v);
  space->choose(0, log.prior.x.data(), log.prior.chart);
  const double sd[2] = {2 * kDegree, 10 * kDegree};
  log.prior.P = Eigen::Vector2d(sd[0] * sd[0], sd[1] * sd[1]).asDiagonal();
  const double delta[2] = {sd[0] * random.normal(), sd[1] * random.normal()};
  VectorXd x = log.prior.x, next = x, normal(space->noises());
  space->retract(0, x.data(), log.prior.chart, delta, x.data());
  log.truth.push_back(x);
  for (int k = 1; k <= steps_; ++k) {
    space->advance((k - 1) * kStep, kStep, x.data(), next.data());
    random.normal(normal.data(), space->noises());
    space->disturb(k * kStep, kStep, next.data(), normal.data());
    x = next;
    log.truth.push_back(x);
    for (int sensor = 0; sensor < 2; ++sensor) {
      if (sensor == 1 && k % 2 != 0) continue;  // the encoder at half the rate
      Measurement m{k * kStep, sensor, {}};
      space->predict(m.t, x.data(), sensor, m.y.data());
      m.y[0] += space->sensors()[sensor].channels[0].noise * random.normal();
      log.readings.push_back(m);
    }
  }
  return log;
}

std::vector<KnownStart::Contestant> KnownStart::contestants(int particles) const {
  const auto &m = machine_, &g = for_particles_;
  const std::string count = std::to_string(particles) + (compiled_ ? ", generated code" : "");
  return {{"batch smoother", [&m](const Log& log, const Told& told) { run_batch(m, log, told); }},
          {"fixed-lag smoother, window 10 (newest knot)",
           [&m](const Log& log, const Told& told) { run_lag(m, log, told); }},
          {"EKF, independent coordinates", [&m](const Log& log, const Told& told) { run_kalman<Ekf>(m, log, told); }},
          {"EKF, error state on the manifold",
           [this](const Log& log, const Told& told) { run_kalman<Ekf>(manifold_, log, told); }},
          {"UKF", [&m](const Log& log, const Told& told) { run_kalman<Ukf>(m, log, told); }},
          {"particles, optimal proposal, " + count,
           [&g, particles](const Log& log, const Told& told) {
             run_particles(g, Proposal::optimal, particles, log, told);
           }},
          {"particles, SIR, " + count, [&g, particles](const Log& log, const Told& told) {
             run_particles(g, Proposal::prior, particles, log, told);
           }}};
}

/// One log: NEES per step, squares of the crank's errors, and the processor time of the estimator alone.
KnownStart::Run KnownStart::run(const Contestant& contestant, const Log& log) const {
  Run run;
  run.nees.assign(steps_ + 1, 0.0);
  const std::unique_ptr<StateSpace> space = machine_.space->clone();
  double worst = 0, spent = 0;
  int last = 0;
  const double begun = thread_seconds();
  contestant.run(log, [&](int k, const Belief& belief) {
    const double called = thread_seconds();
    last = k;
    VectorXd delta(2);
    space->local(belief.x.data(), belief.chart, log.truth[k].data(), delta.data());
    run.nees[k] = delta.dot(belief.P.ldlt().solve(delta)) / 2;
    const double e = std::remainder(belief.x[crank_] - log.truth[k][crank_], 2 * M_PI) / kDegree;
    run.squares += e * e;
    ++run.count;
    if (k > steps_ / 3) worst = std::max(worst, std::abs(e));
    spent += thread_seconds() - called;
  });
  run.seconds = thread_seconds() - begun - spent;
  run.converged = worst < 3 && last == steps_;
  return run;
}

/// The first logs one after the other, which are timed, then the others on all cores.
KnownStart::Verdict KnownStart::judge(const Contestant& contestant) const {
  Verdict verdict;
  verdict.nees.assign(steps_ + 1, 0.0);
  const double seeds = static_cast<double>(logs_.size());
  std::vector<Run> runs(logs_.size());
  const std::size_t timed = std::min<std::size_t>(kTimed, logs_.size());
  for (std::size_t i = 0; i < timed; ++i) {
    runs[i] = run(contestant, logs_[i]);
    verdict.step_us += 1e6 * runs[i].seconds / (static_cast<double>(timed) * steps_);
  }
  tbb::parallel_for(timed, logs_.size(), [&](std::size_t i) { runs[i] = run(contestant, logs_[i]); });
  double squares = 0;
  long count = 0;
  for (const Run& r : runs) {  // in their order: sums do not depend on the number of threads
    for (int k = 1; k <= steps_; ++k) verdict.nees[k] += r.nees[k] / seeds;
    squares += r.squares, count += r.count;
    verdict.converged += r.converged / seeds;
  }
  for (int k = 1; k <= steps_; ++k) {
    verdict.mean_nees += verdict.nees[k] / steps_;
    verdict.inside += (verdict.nees[k] >= low_ && verdict.nees[k] <= high_) / static_cast<double>(steps_);
  }
  verdict.rmse = std::sqrt(squares / static_cast<double>(count));
  return verdict;
}

}  // namespace kinegraph::experiments
