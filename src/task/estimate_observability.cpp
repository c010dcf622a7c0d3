#include "kinegraph/task/estimate_observability.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/filter/observability.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::task {
namespace {

constexpr std::size_t kMostReadings = 2000;  // of the log's beginning, enough to see what can be seen
constexpr double kExact = 1e-9;              // standard deviation of what is known exactly

std::vector<filter::ScheduledReading> schedule(const std::vector<LogReading>& readings) {
  std::vector<filter::ScheduledReading> times;
  for (std::size_t i = 0; i < std::min(readings.size(), kMostReadings); ++i) {
    times.push_back({readings[i].measurement.t, readings[i].measurement.sensor});
  }
  std::stable_sort(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  return times;
}

Result<filter::ObservabilityReport> report(Machine& machine, const std::vector<filter::ScheduledReading>& times,
                                           const EstimateOptions& options, double start, double step) {
  filter::MachineSpace& space = *machine.space;
  const Eigen::VectorXd x = space.state(machine.q, machine.v);
  filter::Chart chart;
  if (!space.choose(start, x.data(), chart)) return Failure::no_answer("the start is a singular position");
  filter::ObservabilityOptions look;
  look.step = step;
  look.progress = options.progress;
  const Eigen::VectorXd extra = space.extra_sd();
  const int first_extra = space.tangent() - space.extras();
  for (int i = 0; i < space.tangent(); ++i) {
    const auto given = options.start_sd.find(space.tangent_name(chart, i));
    if (given != options.start_sd.end()) {
      look.known.push_back({i, std::max(given->second, kExact)});
    } else if (i >= first_extra) {
      look.known.push_back({i, std::max(extra[i - first_extra], kExact)});
    }
  }
  return filter::observability(space, x, start, times, look);
}

/// The coordinate that a direction is mostly along; −1: an offset or a force.
int column_of(const Machine& machine, const filter::ObservabilityReport& found,
              const filter::HiddenDirection& direction) {
  const int f = machine.plant().freedoms(), i = direction.shares.empty() ? -1 : direction.shares.front().column;
  if (i < 0 || i >= 2 * f) return -1;
  return found.chart.columns[i % f];
}

/// An encoder on a coordinate, if it can have one.
std::optional<Sensor> encoder_on(const Machine& machine, int column) {
  constexpr double kNoise = 1e-3;
  Sensor sensor;
  sensor.type = SensorType::encoder;
  sensor.name = "encoder tried";
  sensor.channels = {{sensor.name + ".q", "rad", false, kNoise}};
  if (machine.system) {
    const int relative = static_cast<int>(machine.model.relative.size());
    sensor.coordinate = column - (machine.system->coordinates() - relative);
    if (sensor.coordinate < 0) return {};
    return sensor;
  }
  for (const screw::Coordinate& c : machine.tree->coordinates()) {
    if (column < c.v || column >= c.v + c.freedoms || c.stored != c.freedoms || c.joint < 0) continue;
    sensor.coordinate = c.joint;
    sensor.freedom = column - c.v;
    return sensor;
  }
  return {};
}

/// The same machine in coordinates that have names, whatever the filter counts in, and with one more sensor if given.
Result<Machine> looked_at(Model model, const std::optional<Sensor>& more, const EstimateOptions& options,
                          const EstimateSummary& summary) {
  if (more) model.sensors.push_back(*more);
  MachineSettings settings = options.machine;
  settings.chart = filter::ChartKind::independent;
  settings.time = summary.time_end;
  return make_machine(model, settings);
}

/// "; an encoder on theta would tell it", if it does.
std::string hint(const Model& model, const Machine& machine, const std::vector<filter::ScheduledReading>& times,
                 const EstimateOptions& options, const EstimateSummary& summary, int column, std::size_t hidden) {
  const std::optional<Sensor> encoder = column < 0 ? std::nullopt : encoder_on(machine, column);
  if (!encoder) return "";
  Result<Machine> other = looked_at(model, encoder, options, summary);
  if (!other) return "";
  std::vector<filter::ScheduledReading> more;
  const int added = static_cast<int>(model.sensors.size());
  for (const filter::ScheduledReading& reading : times) {
    more.push_back(reading);
    if (more.size() < 2 || more[more.size() - 2].t != reading.t) more.push_back({reading.t, added});
  }
  const auto found = report(*other, more, options, summary.time_start, summary.step);
  if (!found || found->unobservable.size() >= hidden) return "";
  return fmt::format("; an encoder on {} would tell {}", machine.columns[column],
                     found->unobservable.empty() ? "it" : "more");
}

/// "theta.q", "base.x; base.y; … 4 more"
std::string list(const std::vector<filter::HiddenDirection>& hidden) {
  constexpr std::size_t kMost = 6;
  std::string names;
  for (std::size_t i = 0; i < std::min(hidden.size(), kMost); ++i) names += (i > 0 ? "; " : "") + hidden[i].name;
  return hidden.size() > kMost ? names + fmt::format("; … {} more", hidden.size() - kMost) : names;
}

}  // namespace

Result<std::string> check_observability(const Model& model, const std::vector<LogReading>& readings,
                                        const EstimateOptions& options, EstimateSummary& summary) {
  Result<Machine> machine = looked_at(model, {}, options, summary);
  if (!machine) return machine.failure();
  const std::vector<filter::ScheduledReading> times = schedule(readings);
  const auto found = report(*machine, times, options, summary.time_start, summary.step);
  if (!found) return found.failure();
  if (!found->unobservable.empty()) {
    const filter::HiddenDirection& first = found->unobservable.front();
    const int column = column_of(*machine, *found, first);
    const char* them = found->unobservable.size() > 1 ? "them" : "it";
    return Failure::no_answer(
        fmt::format("the log cannot tell {}: no reading changes with {}{}; or say what is known of {}: --start-sd {}=…",
                    list(found->unobservable), them,
                    hint(model, *machine, times, options, summary, column, found->unobservable.size()), them,
                    found->names[first.shares.empty() ? 0 : first.shares.front().column]));
  }
  for (const filter::HiddenDirection& poor : found->practically) {
    summary.warnings.push_back(fmt::format("the log hardly tells {}", poor.name));
  }
  return fmt::format("the log can tell all {} numbers of the state", found->tangent);
}

}  // namespace kinegraph::task
