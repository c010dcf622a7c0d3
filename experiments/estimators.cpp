// All estimators on the same 100 logs of a four-bar with gyroscope and encoder. The truth moves as the estimators
// assume: driven by white noise of the given density, its start drawn from their prior. NEES should then be 1 per
// number.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "bench/clock.hpp"
#include "experiments/gyroscope_fourbar.hpp"
#include "experiments/table.hpp"
#include "kinegraph/filter/consistency.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/fixed_lag_smoother.hpp"
#include "kinegraph/filter/smoother.hpp"
#include "kinegraph/filter/ukf.hpp"

namespace {

using namespace kinegraph;
using namespace kinegraph::filter;
using bench::cpu_seconds;
using bench::require;
using Eigen::VectorXd;
using experiments::figure;

constexpr int kSeeds = 100, kSteps = 600;
constexpr double kStep = 5e-3, kDegree = M_PI / 180;

struct Log {
  std::vector<VectorXd> truth;  // per step
  std::vector<Measurement> readings;
  Belief prior;
};

Log make_log(const task::Machine& machine, int seed) {
  const std::unique_ptr<StateSpace> space = machine.space->clone();
  Random random(seed, 5);
  Log log;
  log.prior.x = machine.space->state(machine.q, machine.v);
  space->choose(0, log.prior.x.data(), log.prior.chart);
  const double sd[2] = {2 * kDegree, 10 * kDegree};
  log.prior.P = Eigen::Vector2d(sd[0] * sd[0], sd[1] * sd[1]).asDiagonal();
  const double delta[2] = {sd[0] * random.normal(), sd[1] * random.normal()};
  VectorXd x = log.prior.x, next = x, normal(space->noises());
  space->retract(0, x.data(), log.prior.chart, delta, x.data());
  log.truth.push_back(x);
  for (int k = 1; k <= kSteps; ++k) {
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

/// What an estimator says after every step.
using Told = std::function<void(int step, const Belief& belief)>;
using Run = std::function<void(const Log& log, const Told& told)>;

void feed(Estimator& estimator, const Log& log, const Told& told) {
  for (std::size_t i = 0; i < log.readings.size(); ++i) {
    if (!estimator.push(log.readings[i])) return;  // counts as not converged
    const bool last = i + 1 == log.readings.size() || log.readings[i + 1].t > log.readings[i].t;
    if (last) told(static_cast<int>(std::lround(log.readings[i].t / kStep)), estimator.belief());
  }
}

struct Sums {
  double squares = 0, cpu = 0;
  int converged = 0;
  long count = 0;
  std::vector<double> nees = std::vector<double>(kSteps + 1, 0.0);  // by step, summed over the seeds
};

Sums judge(StateSpace& space, int crank, const std::vector<Log>& logs, const Run& run) {
  Sums sums;
  for (const Log& log : logs) {
    double worst = 0, spent = 0;
    int last = 0;
    const double begun = cpu_seconds();
    run(log, [&](int k, const Belief& belief) {
      const double called = cpu_seconds();
      last = k;
      VectorXd delta(2);
      space.local(belief.x.data(), belief.chart, log.truth[k].data(), delta.data());
      sums.nees[k] += delta.dot(belief.P.ldlt().solve(delta));
      const double e = std::remainder(belief.x[crank] - log.truth[k][crank], 2 * M_PI) / kDegree;
      sums.squares += e * e;
      ++sums.count;
      if (k > kSteps / 3) worst = std::max(worst, std::abs(e));
      spent += cpu_seconds() - called;
    });
    sums.cpu += cpu_seconds() - begun - spent;
    sums.converged += worst < 3 && last == kSteps;
  }
  return sums;
}

}  // namespace

int main() {
  fmt::print("All estimators on the same {} logs: gyroscope 200 Hz 0.3 °/s, encoder 100 Hz 0.2°, start known to 2°\n",
             kSeeds);
  task::MachineSettings settings;
  settings.process = {{"theta", 0.5}};
  const auto made = [&](ChartKind chart) {
    settings.chart = chart;
    return require(task::make_machine(experiments::fourbar(), settings), "machine");
  };
  const task::Machine machine = made(ChartKind::independent), manifold = made(ChartKind::manifold);
  int crank = 0;
  while (machine.plant().column_name(crank) != "theta") ++crank;
  std::vector<Log> logs;
  for (int seed = 0; seed < kSeeds; ++seed) logs.push_back(make_log(machine, seed));

  const auto kalman = [&](auto make, const task::Machine& of, bool charted) -> Run {
    return [&of, make, charted](const Log& log, const Told& told) {
      KalmanOptions options;
      options.step = kStep;
      Belief prior = log.prior;
      if (!charted) {  // the same prior in the other kind of chart
        MatrixXd T;
        prior.chart = {};
        of.space->choose(0, prior.x.data(), prior.chart);
        of.space->transition(0, prior.x.data(), log.prior.chart, prior.chart, T);
        prior.P = T * log.prior.P * T.transpose();
      }
      auto filter = make(of.space->clone(), prior, options);
      if (filter) feed(**filter, log, told);
    };
  };
  const auto ekf = [](auto space, const Belief& b, const KalmanOptions& o) {
    return Ekf::make(std::move(space), b, o);
  };
  const auto ukf = [](auto space, const Belief& b, const KalmanOptions& o) {
    return Ukf::make(std::move(space), b, o);
  };
  const auto particles = [&](Proposal proposal) -> Run {
    return [&machine, proposal](const Log& log, const Told& told) {
      ParticleOptions options;
      options.step = kStep;
      options.proposal = proposal;
      Random random(7, 7);
      std::vector<Particle> start;
      for (int i = 0; i < 200; ++i) {
        Particle p{log.prior.x, 0, 0};
        const double delta[2] = {std::sqrt(log.prior.P(0, 0)) * random.normal(),
                                 std::sqrt(log.prior.P(1, 1)) * random.normal()};
        machine.space->retract(0, log.prior.x.data(), log.prior.chart, delta, p.x.data());
        start.push_back(p);
      }
      auto filter = ParticleFilter::create(*machine.space, 0, start, 1, options);
      if (filter) feed(**filter, log, told);
    };
  };
  const Run lag = [&](const Log& log, const Told& told) {
    FixedLagSmootherOptions options;
    options.step = kStep;
    auto smoother = FixedLagSmoother::make(machine.space->clone(), log.prior, options);
    if (smoother) feed(**smoother, log, told);
  };
  const Run batch = [&](const Log& log, const Told& told) {
    SmootherOptions options;
    options.step = kStep;
    const auto space = machine.space->clone();
    const Result<Smoothed> smoothed = smooth(*space, log.prior, log.readings, options);
    if (!smoothed) return;
    for (std::size_t k = 1; k < smoothed->knots.size(); ++k) told(static_cast<int>(k), smoothed->knots[k]);
  };
  const std::vector<std::pair<std::string, Run>> all = {
      {"batch smoother", batch},
      {"fixed-lag smoother, window 10 (newest knot)", lag},
      {"EKF, independent coordinates", kalman(ekf, machine, true)},
      {"EKF, error state on the manifold", kalman(ekf, manifold, false)},
      {"UKF", kalman(ukf, machine, true)},
      {"particles, optimal proposal, 200", particles(Proposal::optimal)},
      {"particles, SIR, 200", particles(Proposal::prior)}};
  const ChiSquaredAverage band = chi_squared_average(2 * kSeeds, 2 * kSeeds);
  experiments::Table table("estimators", {"estimator", "RMSE in °", "NEES at 1.5 s", "mean NEES",
                                          "times within the band", "converged", "µs per step"});
  for (const auto& [name, run] : all) {
    const Sums sums = judge(*machine.space, crank, logs, run);
    double mean = 0;
    int inside = 0;
    for (int k = 1; k <= kSteps; ++k) {
      const double nees = sums.nees[k] / (2 * kSeeds);
      mean += nees / kSteps;
      inside += nees >= band.low && nees <= band.high;
    }
    table.add({name, figure(std::sqrt(sums.squares / static_cast<double>(sums.count))),
               figure(sums.nees[kSteps / 2] / (2 * kSeeds)), figure(mean),
               fmt::format("{:.0f} %", 100.0 * inside / kSteps), fmt::format("{} %", 100 * sums.converged / kSeeds),
               figure(1e6 * sums.cpu / (kSeeds * kSteps))});
  }
  table.show();
  fmt::print("  NEES per number of the state: 1 expected; the 95 % band over {} seeds is {:.2f} to {:.2f}\n", kSeeds,
             band.low, band.high);
}
