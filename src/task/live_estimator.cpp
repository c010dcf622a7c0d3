#include "kinegraph/task/live_estimator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/task/estimate_run.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

double step_of(const Model& model, const EstimateOptions& options) {
  if (options.step > 0) return options.step;
  double finest = kLongestStep;
  for (const Sensor& sensor : model.sensors) {
    if (sensor.rate > 0) finest = std::min(finest, 1 / sensor.rate);
  }
  return finest;
}

std::vector<std::string> sensor_names(const Model& model) {
  std::vector<std::string> names;
  for (const Sensor& sensor : model.sensors) names.push_back(sensor.name);
  return names;
}

}  // namespace

LiveEstimator::LiveEstimator(Machine machine, const EstimateOptions& options, EstimateSummary summary, int branches)
    : machine_(std::make_unique<Machine>(std::move(machine))),
      options_(options),
      summary_(std::move(summary)),
      table_(*machine_, {.branches = branches}) {
  summary_.branches.assign(branches, 0);
}

Result<std::unique_ptr<LiveEstimator>> LiveEstimator::make(const Model& model, double t, const EstimateOptions& given) {
  if (Failure faults = check_options(given); !faults.diagnostics.empty()) return faults;
  EstimateOptions options = given;
  if (auto chosen = choose_formulation(model, options.machine); !chosen) return chosen.failure();
  if (model.sensors.empty()) {
    return Failure::bad_input({model.file, 0, 0}, "sensors: the model has none; docs/formats.md tells how to add one");
  }
  if (options.filter == "batch") {
    return Failure::bad_input("filter: batch takes all readings at once; live are smoother, ekf, ukf and particle");
  }
  if (!std::isfinite(t)) return Failure::bad_input("t: must be a number");
  EstimateSummary summary;
  summary.filter = options.filter;
  summary.step = step_of(model, options);
  summary.time_start = summary.time_end = t;
  MachineSettings settings = options.machine;
  settings.time = t;
  settings.friction_span = friction_span(summary);
  auto machine = make_machine(model, settings);
  if (!machine) return machine.failure();
  if (auto movable = check_movable(*machine); !movable) return movable.failure();
  if (machine->assumed_density) {
    summary.warnings.push_back(fmt::format(
        "nothing says what the model misses (disturbances, --process): white acceleration of {:g} per √Hz is assumed",
        kAssumedDensity));
  }
  const auto start = EstimateStart::make(*machine, t, options);
  if (!start) return start.failure();
  std::vector<int> numbers;
  auto estimator = make_estimator(*machine, *start, options, summary, numbers);
  if (!estimator) return estimator.failure();
  const int branches = start->branches();
  std::unique_ptr<LiveEstimator> live(new LiveEstimator(*std::move(machine), options, std::move(summary), branches));
  live->numbers_ = std::move(numbers);
  live->estimator_ = *std::move(estimator);
  live->weigh_branches();
  return live;
}

void LiveEstimator::weigh_branches() {
  for (std::size_t i = 0; i < numbers_.size(); ++i) summary_.branches[numbers_[i]] = estimator_->branches()[i];
}

Result<std::monostate> LiveEstimator::push(const std::string& sensor, double t, const std::vector<double>& reading) {
  const std::vector<Sensor>& sensors = machine_->model.sensors;
  const auto found = std::find_if(sensors.begin(), sensors.end(), [&](const Sensor& s) { return s.name == sensor; });
  if (found == sensors.end()) {
    return Failure::bad_input(
        fmt::format("unknown sensor {}{}", quote(sensor), did_you_mean(sensor, sensor_names(machine_->model))));
  }
  if (reading.size() != found->channels.size()) {
    return Failure::bad_input(
        fmt::format("sensor {}: expected {} numbers, found {}", quote(sensor), found->channels.size(), reading.size()));
  }
  if (!std::isfinite(t)) return Failure::bad_input("t: must be a number");
  filter::Measurement measurement{t - found->delay, static_cast<int>(found - sensors.begin()), {}};
  measurement.y.fill(std::nan(""));
  bool given = false;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    if (std::isinf(reading[i])) {
      return Failure::bad_input(fmt::format("sensor {}: {} is not finite", quote(sensor), found->channels[i].name));
    }
    if (!(found->channels[i].noise > 0)) {
      return Failure::bad_input(
          found->where, fmt::format("sensor {}: noise: must be > 0 for its readings to be weighed", quote(sensor)));
    }
    measurement.y[i] = reading[i];
    given = given || !std::isnan(reading[i]);
  }
  if (!given) return advance(t);
  if (auto pushed = estimator_->push(measurement); !pushed) return pushed;
  weigh_branches();
  return std::monostate{};
}

Result<std::monostate> LiveEstimator::advance(double t) {
  if (!std::isfinite(t)) return Failure::bad_input("t: must be a number");
  if (t <= estimator_->t()) return std::monostate{};
  if (auto advanced = estimator_->advance(t); !advanced) return advanced;
  weigh_branches();
  return std::monostate{};
}

Result<std::vector<double>> LiveEstimator::row() {
  std::vector<double> out(names().size());
  if (!table_.row(estimator_->belief(), summary_.branches, out.data())) {
    return Failure::no_answer(fmt::format("no accelerations at t = {:g} s", estimator_->t()));
  }
  return out;
}

}  // namespace kinegraph::task
