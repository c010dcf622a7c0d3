#include "kinegraph/task/identify_misfit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/numbers.hpp"
#include "kinegraph/base/time_text.hpp"
#include "kinegraph/identify/natural_kappa.hpp"
#include "kinegraph/task/identify_residuals.hpp"
#include "kinegraph/task/reading_checks.hpp"

namespace kinegraph::task {
namespace {

const double kRandomTurn = kTurn / std::sqrt(12.0);  // root mean square of any angle, within ± half a turn

/// Root mean square of a channel's readings about their mean.
double spread_of(const std::vector<identify::Run>& runs, const identify::ChannelPlace& place) {
  double count = 0, mean = 0, squares = 0;
  for (const identify::Run& run : runs) {
    for (const identify::Reading& reading : run.readings) {
      const double y = reading.y[place.row];
      if (reading.sensor != place.sensor || std::isnan(y)) continue;
      const double away = y - mean;
      mean += away / ++count;
      squares += away * (y - mean);
    }
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

/// When a channel is first off for some readings on end; nothing: it never is.
std::optional<double> begin_of(const Fit& fit, const identify::ChannelPlace& place, int channel, double noise) {
  constexpr std::size_t kSome = 10;
  constexpr double kOff = 3;
  for (std::size_t r = 0; r < fit.runs.size(); ++r) {
    const std::vector<double> left = fit.problems[r].residuals(channel);
    std::vector<double> times;
    for (const identify::Reading& reading : fit.runs[r].readings) {
      if (reading.sensor == place.sensor && !std::isnan(reading.y[place.row])) times.push_back(reading.t);
    }
    const std::size_t some = std::min(kSome, left.size());
    for (std::size_t i = 0; i + some <= std::min(left.size(), times.size()); ++i) {
      const auto first = left.begin() + static_cast<std::ptrdiff_t>(i);
      if (residual_size({first, first + static_cast<std::ptrdiff_t>(some)}, false) > kOff * noise) return times[i];
    }
  }
  return {};
}

/// Whether somebody said what noise a channel has.
bool is_said(const SensorChannel& channel, int sensor, int said, const IdentifyOptions& options) {
  return channel.noise > 0 && (sensor < said || options.noise > 0);
}

/// Readings of so few noises fit any motion.
bool is_lost_in_noise(const std::vector<identify::Run>& runs, const std::vector<Sensor>& sensors) {
  constexpr double kNoise = 10;
  const std::vector<identify::ChannelPlace> places = identify::channel_places(sensors);
  return std::all_of(places.begin(), places.end(), [&](const identify::ChannelPlace& place) {
    return spread_of(runs, place) < kNoise * sensors[place.sensor].channels[place.row].noise;
  });
}

/// How far the beginnings of recordings are from any motion, in the noise of the worst channel, with readings in
/// another unit.
double ratio_in(const OtherUnit& unit, int only, const FitData& data, const std::vector<Trajectory>& recordings,
                const Fit& fit, int said, const IdentifyOptions& options) {
  constexpr int kEnough = 200;  // steps
  bool any = false;
  std::vector<Trajectory> tables = recordings;  // anew: what was made of angles may be of the wrong turn
  for (Trajectory& table : tables) {
    for (std::size_t s = 0; s < data.model.sensors.size(); ++s) {
      if (only >= 0 && static_cast<int>(s) != only) continue;
      for (const SensorChannel& channel : data.model.sensors[s].channels) {
        const int column = is_in(channel.unit, unit.si) ? table.find(channel.name) : -1;
        for (int i = 0; column >= 0 && i < table.samples(); ++i) table.at(i, column) *= unit.factor;
        any = any || column >= 0;
      }
    }
  }
  if (!any) return kInfinity;
  Result<FitData> read =
      read_data(fit.parameters.model(), fit.parameters.mechanism(), tables, {}, options, data.options.step);
  if (!read) return kInfinity;
  std::vector<identify::Run> runs;
  for (const identify::Run& run : read->runs) runs.push_back(beginning_of(run, kEnough));
  if (is_lost_in_noise(runs, data.model.sensors)) return kInfinity;
  const maximal::Mechanism& mechanism = fit.parameters.mechanism();
  std::vector<std::vector<double>> guess;
  for (const identify::Run& run : runs) {
    auto made = identify::first_guess(data.model, mechanism, mechanism.numbers(), run, data.options);
    if (!made) return kInfinity;
    guess.push_back(*std::move(made));
  }
  IdentifyOptions soft = options;
  soft.fit = "states";
  identify::Weights weights = weights_of(data.model.sensors, runs, soft);
  const double noise = noise_unit(data.model.sensors, runs, weights);
  soft.kappa = identify::natural_kappa(mechanism, runs, guess, noise, soft.length);
  weights = weights_of(data.model.sensors, runs, soft);
  const Result<identify::Parameters> none = identify::Parameters::make(data.model, {});
  if (!none) return kInfinity;
  const auto found = task::fit(data.model, *none, runs, data.options, weights, soft, {none->start(), &guess}, {});
  if (!found) return kInfinity;
  const std::optional<Misfit> worst = worst_misfit(*found, data.model.sensors, said, options);
  return worst ? worst->ratio() : kInfinity;
}

/// "; readings are in degrees, it seems …": what readings would fit the model far better than those that were read.
std::string other_readings(const Misfit& misfit, const FitData& data, const std::vector<Trajectory>& recordings,
                           const Fit& fit, int said, const IdentifyOptions& options) {
  constexpr double kFarBetter = 5;
  const auto ratio = [&](const OtherUnit& other, int sensor) {
    return ratio_in(other, sensor, data, recordings, fit, said, options);
  };
  const std::string& unit = misfit.unit;
  const std::string si = unit.ends_with("/s") ? unit.substr(0, unit.size() - 2) : unit;  // as is_in() has it
  const double as_read = ratio({si.c_str(), "", 1}, misfit.sensor);  // of the same steps as in other units
  const double enough = std::min(3.0, as_read / kFarBetter);
  if (const auto other = likely_unit(data.model.sensors, misfit.sensor, enough, ratio)) {
    return "; " + other->text(data.model.sensors, "what is left over the noise is");
  }
  const double flipped = ratio({si.c_str(), "", -1}, misfit.sensor);
  if (!(flipped < enough)) return "";
  return fmt::format("; of the other sign those of {} would fit, it seems (then what is left over the noise is {:.2g})",
                     quote(misfit.name), flipped);
}

}  // namespace

std::optional<Misfit> worst_misfit(const Fit& fit, const std::vector<Sensor>& sensors, int said,
                                   const IdentifyOptions& options) {
  std::optional<Misfit> worst;
  const std::vector<identify::ChannelPlace> places = identify::channel_places(sensors);
  for (std::size_t c = 0; c < places.size(); ++c) {
    const SensorChannel& channel = sensors[places[c].sensor].channels[places[c].row];
    if (!is_said(channel, places[c].sensor, said, options)) continue;
    std::vector<double> left;
    for (const identify::Problem& problem : fit.problems) {
      const std::vector<double> one = problem.residuals(static_cast<int>(c));
      left.insert(left.end(), one.begin(), one.end());
    }
    Misfit of{static_cast<int>(c),
              places[c].sensor,
              channel.name,
              channel.unit,
              residual_size(std::move(left), options.loss != "none"),
              channel.noise,
              channel.circular ? std::min(kRandomTurn, spread_of(fit.runs, places[c])) : spread_of(fit.runs, places[c]),
              options.fit == "replay"};
    if (!worst || of.ratio() > worst->ratio()) worst = of;
  }
  if (worst) {
    const double start = fit.runs.front().times.front();
    worst->since = begin_of(fit, places[worst->channel], worst->channel, worst->noise).value_or(start);
  }
  return worst;
}

std::string misfit_text(const Misfit& misfit, const FitData& data, const std::vector<Trajectory>& recordings,
                        const Fit& fit, int said, const IdentifyOptions& options) {
  const std::string text = fmt::format(
      "{} is left {:.3g} {} off as a rule, {:.3g} times the noise that it is said to have, "
      "from t = {} s on",
      quote(misfit.name), misfit.left, misfit.unit, misfit.ratio(), time_text(misfit.since));
  return text + other_readings(misfit, data, recordings, fit, said, options);
}

std::optional<std::string> wrong_motion_text(const Misfit& misfit, double natural, double found, const FitData& data,
                                             const std::vector<Trajectory>& recordings, const Fit& fit, int said,
                                             const IdentifyOptions& options) {
  constexpr double kMost = 0.5;
  const double missed = identify::missed_share(natural, found);
  if (!(missed > kMost)) return {};
  return fmt::format(
             "the motion is not the model's: it misses {:.0f} % of the impulses that the motion has, as a rule, and "
             "says little of what is free",
             100 * missed) +
         other_readings(misfit, data, recordings, fit, said, options);
}

Result<std::string> judge_rates(const FitData& data, const IdentifyOptions& options) {
  const auto interval = [&](int sensor) {
    for (const identify::Run& run : data.runs) {
      std::vector<double> times;
      for (const identify::Reading& reading : run.readings) {
        if (reading.sensor == sensor) times.push_back(reading.t);
      }
      if (const double usual = usual_interval(std::move(times)); usual > 0) return usual;
    }
    return 0.0;
  };
  return judge_rates(data.model.sensors, interval, options.step > 0);
}

}  // namespace kinegraph::task
