#include "kinegraph/task/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/time_text.hpp"
#include "kinegraph/filter/natural_plant.hpp"
#include "kinegraph/mechanics/screw/tree.hpp"
#include "kinegraph/task/compiled_packets.hpp"
#include "kinegraph/task/estimate_fit.hpp"
#include "kinegraph/task/estimate_observability.hpp"
#include "kinegraph/task/estimate_run.hpp"
#include "kinegraph/task/estimate_verdict.hpp"
#include "kinegraph/task/option_rules.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

constexpr double kMost = 1e9;  // deviations and speeds, whose squares are computed with
constexpr int kMostParticles = 1'000'000;

/// What an estimator weighs by must have noise.
Failure check_noise(const Machine& machine, const std::vector<LogReading>& readings) {
  Failure faults{Failure::Kind::bad_input, {}};
  std::vector<char> there(machine.observer->sensors(), 0);
  for (const LogReading& reading : readings) there[reading.measurement.sensor] = 1;
  for (int s = 0; s < machine.observer->sensors(); ++s) {
    const std::vector<filter::SensorInfo::Channel>& channels = machine.space->sensors()[s].channels;
    if (!there[s] || std::all_of(channels.begin(), channels.end(), [](const auto& c) { return c.noise > 0; })) continue;
    const Sensor& sensor = machine.observer->sensor(s);
    faults.diagnostics.push_back(
        {Severity::error, sensor.where,
         fmt::format("sensor {}: noise: must be > 0 for its readings to be weighed", quote(sensor.name))});
  }
  return faults;
}

/// The finest interval at which a sensor reads, as a rule: the median of each, the least of those.
double step_of(const std::vector<LogReading>& readings, int sensors) {
  double finest = kLongestStep;
  for (int s = 0; s < sensors; ++s) {
    if (const double usual = usual_interval(readings, s); usual > 0) finest = std::min(finest, usual);
  }
  return finest;
}

EstimateSummary begin_summary(const std::vector<LogReading>& readings, int sensors, const EstimateOptions& options) {
  EstimateSummary summary;
  summary.time_start = std::numeric_limits<double>::infinity();
  summary.time_end = -summary.time_start;
  for (const LogReading& reading : readings) {
    summary.time_start = std::min(summary.time_start, reading.measurement.t);
    summary.time_end = std::max(summary.time_end, reading.arrival);
  }
  summary.step = options.step > 0 ? options.step : step_of(readings, sensors);
  summary.filter = options.filter;
  summary.integrator = options.machine.integrator;
  summary.chart = options.machine.chart == filter::ChartKind::manifold ? "manifold" : "independent";
  summary.loss = options.loss;
  return summary;
}

/// Steps that fit in memory (all at once) or in a lifetime.
void check_steps(const EstimateSummary& summary, Failure& faults) {
  const double most = summary.filter == "batch" ? 1e7 : 2e9,
               steps = (summary.time_end - summary.time_start) / summary.step;
  check_rule(steps <= most, "step",
             fmt::format("the log, from {} to {} s, must have at most {:g} steps of {:g} s",
                         time_text(summary.time_start), time_text(summary.time_end), most, summary.step),
             steps_text(steps), faults);
}

/// μ tanh(v / v₀) is nearly a jump: a filter that is linear about standstill takes it for a strong brake, and is far
/// too sure of it.
void warn_of_friction(const Machine& machine, EstimateSummary& summary) {
  if (!machine.tree || summary.filter == "particle") return;
  for (const screw::Coordinate& c : machine.tree->coordinates()) {
    const auto dry = [](const JointDynamics& d) { return d.friction > 0; };
    if (std::none_of(c.dynamics.begin(), c.dynamics.end(), dry)) continue;
    // A planar file names the pin, not its coordinate.
    std::string name = c.name, number = "friction";
    for (const JointFriction& f : machine.model.frictions) {
      if (f.dynamics.friction > 0) name = f.name, number = "dry";
    }
    summary.warnings.push_back(
        fmt::format("dry friction (of joint {}, at least) makes filters too sure near standstill: better without it, "
                    "--set {}.{}=0, and with more --process",
                    quote(name), name, number));
    return;
  }
}

/// Particles of a planar machine go in packets; code that is made for it replaces what packets do for any. Fails only
/// where it is interrupted.
Result<std::string> use_generated_code(const Model& model, Machine& machine, const EstimateOptions& options) {
  if (options.filter != "particle") return std::string("numeric (generated code moves particles alone)");
  auto* plant = dynamic_cast<filter::NaturalPlant*>(&machine.plant());
  if (!plant) return std::string("numeric (generated code moves particles of planar machines alone)");
  const auto code =
      CompiledPackets::make(model, plant->system(), plant->packets().program(), machine.independent, options.progress);
  if (!code && code.failure().kind == Failure::Kind::interrupted) return code.failure();
  if (!code) return fmt::format("numeric ({})", code.failure().diagnostics.front().message);
  plant->packets().use(*code);
  return fmt::format("generated code, {} operations for accelerations, compiled by {}", (*code)->operations(),
                     (*code)->compiler());
}

}  // namespace

Failure check_options(const EstimateOptions& o) {
  Failure faults{Failure::Kind::bad_input, {}};
  check_choice("filter", o.filter, {"smoother", "batch", "ekf", "ukf", "particle"}, faults);
  check_choice("proposal", o.proposal, {"optimal", "prior"}, faults);
  if (!o.start.empty()) check_choice("start", o.start, {"file", "unknown"}, faults);
  if (!o.branches.empty()) check_choice("branches", o.branches, {"all", "file"}, faults);
  check_choice("loss", o.loss, {"none", "huber", "cauchy", "tukey", "geman-mcclure"}, faults);
  const bool probability = o.gate >= 0 && o.gate < 1;
  check_rule(probability, "gate", "must be a probability below 1", o.gate, faults);
  check_rule(o.window >= 2, "window", "must be >= 2", o.window, faults);
  check_rule(o.particles >= 1 && o.particles <= kMostParticles, "particles",
             fmt::format("must be between 1 and {}", kMostParticles), o.particles, faults);
  check_rule(o.every >= 1, "every", "must be >= 1", o.every, faults);
  check_rule(o.start_speed >= 0 && o.start_speed <= kMost, "start-speed",
             fmt::format("must be between 0 and {:g}", kMost), o.start_speed, faults);
  for (const auto& [name, sd] : o.start_sd) {
    check_rule(sd <= kMost, "start-sd " + name, fmt::format("must be at most {:g}", kMost), sd, faults);
  }
  const bool kalman = o.filter == "ekf" || o.filter == "ukf";
  if (kalman) {
    check_rule(o.loss == "none" || o.loss == "huber", "loss", "must be none or huber with Kalman filters", o.loss,
               faults);
  }
  if (o.filter == "particle") {
    check_rule(o.loss == "none", "loss", "must be none with the particle filter", o.loss, faults);
  }
  if (!kalman && probability) {
    check_rule(o.gate == 0, "gate", "is for Kalman filters (take --loss), must be 0", o.gate, faults);
  }
  if (o.filter == "batch") check_rule(o.lag < 0, "lag", "has no meaning for all readings at once", o.lag, faults);
  if (o.start == "unknown") {
    check_rule(o.branches != "file", "branches", "must be all where the start is unknown", o.branches, faults);
  }
  return faults;
}

Result<EstimateResult> estimate(const Model& model, const std::vector<LogReading>& log, const EstimateOptions& given) {
  if (Failure faults = check_options(given); !faults.diagnostics.empty()) return faults;
  EstimateOptions options = given;
  if (auto chosen = choose_formulation(model, options.machine); !chosen) return chosen.failure();
  if (model.sensors.empty()) {
    return Failure::bad_input({model.file, 0, 0}, "sensors: the model has none; docs/formats.md tells how to add one");
  }
  if (log.empty()) return Failure::bad_input("log: has no readings");
  std::vector<LogReading> readings = log;
  if (options.lag < 0) {  // afterwards: every reading in its place
    for (LogReading& reading : readings) reading.arrival = reading.measurement.t;
  }
  std::stable_sort(readings.begin(), readings.end(),
                   [](const LogReading& a, const LogReading& b) { return a.arrival < b.arrival; });

  EstimateSummary summary = begin_summary(readings, static_cast<int>(model.sensors.size()), options);
  summary.formulation = model.spatial() ? "screw" : options.machine.formulation;
  if (auto rates = check_rates(model, readings, options, summary); !rates) return rates.failure();
  Failure too_long{Failure::Kind::bad_input, {}};
  check_steps(summary, too_long);
  if (!too_long.diagnostics.empty()) return too_long;
  MachineSettings settings = options.machine;
  settings.time = summary.time_end;
  settings.friction_span = friction_span(summary);
  auto machine = make_machine(model, settings);
  if (!machine) return machine.failure();
  if (auto movable = check_movable(*machine); !movable) return movable.failure();
  if (Failure faults = check_noise(*machine, readings); !faults.diagnostics.empty()) return faults;
  summary.degrees_of_freedom = machine->plant().freedoms();
  summary.assumed_density = machine->assumed_density;
  if (machine->assumed_density) {
    summary.warnings.push_back(fmt::format(
        "nothing says what the model misses (disturbances, --process): white acceleration of {:g} per √Hz is assumed",
        kAssumedDensity));
  }
  warn_of_friction(*machine, summary);
  if (options.compiled) {
    auto told = use_generated_code(machine->model, *machine, options);
    if (!told) return told.failure();
    summary.code = *std::move(told);
  }
  auto start = EstimateStart::make(*machine, summary.time_start, options);
  if (!start) return start.failure();
  summary.start = start->unknown() ? "unknown" : "file";
  summary.branch_names = start->branch_names();
  if (options.check_observability) {
    auto told = check_observability(model, readings, options, summary);
    if (!told) return told.failure();
    summary.observability = *std::move(told);
  }
  const EstimateSummary begun = summary;
  auto result = fit(*machine, *start, readings, options, summary);
  if (!result) return result.failure();
  const auto refit = [&](const std::vector<LogReading>& other) {
    return misfit_with(*machine, *start, other, options, begun);
  };
  if (auto judged = judge_fit(model, readings, refit, summary); !judged) return judged.failure();
  summary.step_us = summary.wall_s / static_cast<double>(summary.steps) * 1e6;
  result->summary = std::move(summary);
  return result;
}

}  // namespace kinegraph::task
