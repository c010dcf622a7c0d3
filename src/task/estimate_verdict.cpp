#include "kinegraph/task/estimate_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/numbers.hpp"
#include "kinegraph/base/time_text.hpp"
#include "kinegraph/task/estimate_fit.hpp"
#include "kinegraph/task/reading_checks.hpp"

namespace kinegraph::task {
namespace {

constexpr double kImplausible = 10;  // NIS per number
constexpr double kNothing = 30;      // standard deviations
constexpr double kUnexplained = 0.1;

/// The readings with all channels of a unit multiplied; of one sensor (−1: of all). Empty: there are none.
std::vector<LogReading> in_other_unit(const Model& model, const std::vector<LogReading>& readings,
                                      const OtherUnit& unit, int only) {
  std::vector<LogReading> out = readings;
  bool any = false;
  for (LogReading& reading : out) {
    if (only >= 0 && reading.measurement.sensor != only) continue;
    const std::vector<SensorChannel>& channels = model.sensors[reading.measurement.sensor].channels;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (!is_in(channels[c].unit, unit.si) || std::isnan(reading.measurement.y[c])) continue;
      reading.measurement.y[c] *= unit.factor;
      any = true;
    }
  }
  return any ? out : std::vector<LogReading>{};
}

/// "; those of 'th' are in degrees, it seems …", if readings in another unit fit far better.
std::string unit_hint(const Model& model, const std::vector<LogReading>& readings, const Refit& refit, double nis,
                      int worst) {
  constexpr double kFarBetter = 30;
  constexpr std::size_t kEnough = 500;
  const std::vector<LogReading> first(readings.begin(),
                                      readings.begin() + static_cast<long>(std::min(readings.size(), kEnough)));
  const auto found = likely_unit(model.sensors, worst, std::min(kImplausible, nis / kFarBetter),
                                 [&](const OtherUnit& unit, int sensor) {
                                   const std::vector<LogReading> other = in_other_unit(model, first, unit, sensor);
                                   return other.empty() ? kInfinity : refit(other);
                                 });
  return found ? "; " + found->text(model.sensors, "the mean NIS is") : "";
}

/// How much the readings of a channel vary: their standard deviation, of an angle at most that of any angle.
double reading_spread(const std::vector<LogReading>& readings, int sensor, int row, bool circular) {
  double count = 0, mean = 0, squares = 0;
  for (const LogReading& r : readings) {
    const double y = r.measurement.sensor == sensor ? r.measurement.y[row] : kNan;
    if (std::isnan(y)) continue;
    count += 1;
    const double off = y - mean;
    mean += off / count;
    squares += off * (y - mean);
  }
  const double sd = count > 0 ? std::sqrt(squares / count) : 0;
  return circular ? std::min(sd, std::numbers::pi / std::sqrt(3.0)) : sd;
}

struct WorstChannel {
  const EstimateSummary::ChannelUse* use = nullptr;
  std::string unit;
  bool unexplained = false;
  int sensor = 0;
};

WorstChannel worst_channel(const Model& model, const std::vector<LogReading>& readings,
                           const EstimateSummary& summary) {
  WorstChannel worst;
  for (std::size_t s = 0; s < model.sensors.size(); ++s) {
    for (std::size_t c = 0; c < model.sensors[s].channels.size(); ++c) {
      const SensorChannel& channel = model.sensors[s].channels[c];
      const auto use = std::find_if(summary.channels.begin(), summary.channels.end(),
                                    [&](const auto& u) { return u.name == channel.name; });
      if (use == summary.channels.end()) continue;
      const bool unexplained =
          use->typical > kNothing && use->off > kUnexplained * reading_spread(readings, static_cast<int>(s),
                                                                              static_cast<int>(c), channel.circular);
      if (!worst.use || use->typical > worst.use->typical) {
        worst = {&*use, channel.unit, worst.unexplained || unexplained, static_cast<int>(s)};
      }
      worst.unexplained = worst.unexplained || unexplained;
    }
  }
  return worst;
}

}  // namespace

bool implausible(const EstimateSummary& summary) {
  return summary.loss == "none" ? summary.nis_mean > kImplausible : off_as_a_rule(summary);
}

bool off_as_a_rule(const EstimateSummary& summary) {
  return std::any_of(summary.channels.begin(), summary.channels.end(),
                     [](const auto& channel) { return channel.typical * channel.typical > kImplausible; });
}

Result<std::monostate> judge_fit(const Model& model, const std::vector<LogReading>& readings, const Refit& refit,
                                 EstimateSummary& summary) {
  if (!implausible(summary)) return std::monostate{};
  const WorstChannel worst = worst_channel(model, readings, summary);
  if (!worst.use) return std::monostate{};
  const std::string mean = fmt::format("mean NIS per number read is {:.3g} (1 is expected)", summary.nis_mean);
  if (!off_as_a_rule(summary)) {  // some are far off
    const auto far = std::max_element(summary.channels.begin(), summary.channels.end(),
                                      [](const auto& a, const auto& b) { return a.largest < b.largest; });
    summary.warnings.push_back(fmt::format(
        "the motion does not explain some of the readings: {}, worst is {}, off by {:.3g} standard deviations "
        "at t = {} s; if they are outliers, take --loss huber",
        mean, quote(far->name), far->largest, time_text(far->largest_t)));
    return std::monostate{};
  }
  const std::string amount = fmt::format("{}, worst is {}, off by {:.3g} {} as a rule, {:.3g} standard deviations{}",
                                         mean, quote(worst.use->name), worst.use->off, worst.unit, worst.use->typical,
                                         unit_hint(model, readings, refit, summary.nis_mean, worst.sensor));
  if (worst.unexplained) {
    const std::string hint = step_hint(summary);
    return Failure::no_answer("no motion of this model explains the readings: " + amount +
                              (hint.empty() ? "" : "; " + hint));
  }
  summary.warnings.push_back("the motion does not explain the readings, do not trust its deviations: " + amount);
  return std::monostate{};
}

double usual_interval(const std::vector<LogReading>& readings, int sensor) {
  std::vector<double> times;
  for (const LogReading& reading : readings) {
    if (reading.measurement.sensor == sensor) times.push_back(reading.measurement.t);
  }
  return usual_interval(std::move(times));
}

Result<std::monostate> check_rates(const Model& model, const std::vector<LogReading>& readings,
                                   const EstimateOptions& options, EstimateSummary& summary) {
  const Result<std::string> judged = judge_rates(
      model.sensors, [&](int s) { return usual_interval(readings, s); }, options.step > 0);
  if (!judged) return judged.failure();
  if (!judged->empty()) summary.warnings.push_back(*judged);
  return std::monostate{};
}

}  // namespace kinegraph::task
