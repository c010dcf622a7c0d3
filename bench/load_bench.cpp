// Many estimators in one process: 1000 four-bars with a gyroscope each, all fed at 1 kHz of simulated time, in turn, so
// that none finds its data in the cache. The latency of an update is the processor's time (other programs of a busy
// machine do not count) and, beside it, that of the clock on the wall. With --strict the exit status is 1 if a target
// is missed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "bench/clock.hpp"
#include "kinegraph/base/random.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/fixed_lag_smoother.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/machine.hpp"

namespace kinegraph::bench {
namespace {

using namespace kinegraph::filter;
constexpr int kEstimators = 1000, kUpdates = 300;
constexpr double kStep = 1e-3, kNoise = 0.3 * M_PI / 180;  // s, rad/s
bool missed = false;

struct Fourbar {
  task::Machine machine;
  std::vector<Measurement> readings;  // without noise

  Fourbar() {
    const Model model = require(read_model(KINEGRAPH_SOURCE_DIR "/models/fourbar_gyro.yaml"), "model");
    machine = require(task::make_machine(model, {}), "machine");
    Eigen::VectorXd x = machine.space->state(machine.q, machine.v), next = x;
    for (int k = 1; k <= kUpdates; ++k) {
      if (!machine.space->advance((k - 1) * kStep, kStep, x.data(), next.data())) std::exit(1);
      x.swap(next);
      Measurement& m = readings.emplace_back(Measurement{k * kStep, 0, {}});
      machine.space->predict(m.t, x.data(), 0, m.y.data());
    }
  }

  Belief prior() const {
    Belief belief;
    belief.x = machine.space->state(machine.q, machine.v);
    machine.space->choose(0, belief.x.data(), belief.chart);
    belief.P = 1e-3 * Eigen::Matrix2d::Identity();
    return belief;
  }
};

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The value below which a share of the numbers is.
double quantile(std::vector<double> numbers, double share) {
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(numbers.size() - 1));
  std::nth_element(numbers.begin(), at, numbers.end());
  return *at;
}

void line(const std::string& name, double microseconds, double target) {
  const bool fine = target == 0 || microseconds <= target;
  missed = missed || !fine;
  fmt::print("{:50} {:>9.3g} µs {:>8}  {}\n", name, microseconds, target == 0 ? "-" : fmt::format("{:.3g}", target),
             target == 0 ? ""
             : fine      ? "pass"
                         : "MISSED");
}

void load(const std::string& name, const Fourbar& fourbar, const std::function<std::unique_ptr<Estimator>()>& make) {
  std::vector<std::unique_ptr<Estimator>> all;
  for (int i = 0; i < kEstimators; ++i) all.push_back(make());
  Random random(1);
  std::vector<double> processor, wall;
  processor.reserve(static_cast<std::size_t>(kEstimators) * kUpdates);
  wall.reserve(processor.capacity());
  for (const Measurement& exact : fourbar.readings) {
    for (const auto& estimator : all) {
      Measurement m = exact;
      m.y[0] += kNoise * random.normal();
      const double begun_wall = wall_seconds(), begun = cpu_seconds();
      require(estimator->push(m), "reading");
      processor.push_back(1e6 * (cpu_seconds() - begun));
      wall.push_back(1e6 * (wall_seconds() - begun_wall));
    }
  }
  line(name + ", median", quantile(processor, 0.5), 50);
  line(name + ", 99.9 %", quantile(processor, 0.999), 1000);
  line(name + ", median by the wall", quantile(wall, 0.5), 0);
  line(name + ", 99.9 % by the wall", quantile(wall, 0.999), 0);
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) {
  using namespace kinegraph;
  const bench::Fourbar fourbar;
  filter::KalmanOptions kalman;
  filter::FixedLagSmootherOptions lag;
  kalman.step = lag.step = bench::kStep;
  const auto space = [&] { return fourbar.machine.space->clone(); };
  fmt::print("{} estimators, {} updates each, in turn {:>17}\n", bench::kEstimators, bench::kUpdates, "target");
  bench::load("fixed-lag smoother", fourbar, [&] {
    return bench::require(filter::FixedLagSmoother::make(space(), fourbar.prior(), lag), "smoother");
  });
  bench::load("extended Kalman filter", fourbar,
              [&] { return bench::require(filter::Ekf::make(space(), fourbar.prior(), kalman), "filter"); });
  return argc > 1 && std::string(argv[1]) == "--strict" && bench::missed ? 1 : 0;
}
