#include "kinegraph/task/identify_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/task/identify_motion.hpp"

namespace kinegraph::task {

IdentifySummary::Check check_run(Fit& fit, int index, const identify::Weights& weights, const IdentifyOptions& options,
                                 int substeps) {
  constexpr int kMostForecasts = 2000;
  IdentifySummary::Check check;
  const identify::Run& run = fit.runs[index];
  check.file = run.file;
  check.from = run.times.front();
  check.to = run.times.back();
  const long rows = std::max(fit.problems[index].reading_rows(), 1L);
  check.cost = (fit.problems[index].reading_cost() + weights.kappa * fit.problems[index].impulse_cost()) /
               static_cast<double>(rows);
  identify::Predictor predictor(fit.machine, fit.parameters.shared_mechanism(), run, fit.poses[index],
                                {regularization_of(options), substeps, options.controllers});
  identify::Replay replay = predictor.replay();
  check.complete = replay.complete;
  check.reached = run.times[replay.knots - 1];
  check.replay = std::move(replay.channels);
  if (options.keep && replay.knots > 1) {
    identify::Run reached = run;
    reached.times.resize(replay.knots);
    check.motion = motion_table(fit.machine, fit.parameters.shared_mechanism(), reached, replay.poses);
  }
  const int every = std::max(1, run.knots() / kMostForecasts);
  check.horizons.push_back(run.step(0));
  for (const double horizon : options.horizons) check.horizons.push_back(horizon);
  for (const double horizon : check.horizons) check.ahead.push_back(predictor.ahead(horizon, every));
  if (options.horizons.empty() || weights.hard) return check;
  const std::vector<double> starts = fit.problems[index].filtered(fit.machine, fit.poses[index]);
  if (starts.empty()) return check;
  for (const double horizon : check.horizons) check.filtered.push_back(predictor.ahead(horizon, every, &starts));
  return check;
}

std::optional<Failure> add_checks(Fit& fit, const FitData& data, const identify::Weights& weights,
                                  const IdentifyOptions& options, int substeps, const Progress& progress,
                                  IdentifySummary& summary) {
  const auto count = static_cast<double>(data.runs.size() + data.held_out.size());
  for (std::size_t i = 0; i < data.runs.size(); ++i) {
    summary.checks.push_back(check_run(fit, static_cast<int>(i), weights, options, substeps));
    if (progress && !progress(static_cast<double>(i + 1) / count)) return Failure::interrupted();
  }
  if (data.held_out.empty()) return {};
  const double done = static_cast<double>(data.runs.size()) / count;
  Result<Fit> motion =
      fit_motion(fit.machine.model, data.held_out, data.options, weights, options, part_of(progress, done, done));
  if (!motion) return motion.failure();
  for (std::size_t i = 0; i < data.held_out.size(); ++i) {
    summary.checks.push_back(check_run(*motion, static_cast<int>(i), weights, options, substeps));
    summary.checks.back().held_out = true;
    if (progress && !progress(static_cast<double>(data.runs.size() + i + 1) / count)) return Failure::interrupted();
  }
  return {};
}

std::vector<identify::ChannelError> pooled(const std::vector<IdentifySummary::Check>& checks) {
  std::vector<identify::ChannelError> out;
  for (const IdentifySummary::Check& check : checks) {
    for (const identify::ChannelError& error : check.replay) {
      const auto found =
          std::find_if(out.begin(), out.end(), [&](const identify::ChannelError& e) { return e.name == error.name; });
      if (found == out.end()) {
        out.push_back(error);
        continue;
      }
      const double n = static_cast<double>(found->count), m = static_cast<double>(error.count);
      found->rmse = std::sqrt((n * found->rmse * found->rmse + m * error.rmse * error.rmse) / (n + m));
      found->count += error.count;
      found->r_squared = found->persistence = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return out;
}

}  // namespace kinegraph::task
