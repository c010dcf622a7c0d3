#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/base/time_text.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/smoother.hpp"
#include "kinegraph/task/estimate_fit.hpp"
#include "kinegraph/task/estimate_run.hpp"
#include "kinegraph/task/estimate_table.hpp"
#include "kinegraph/task/estimate_watch.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

using filter::Belief, filter::Measurement, filter::Smoothed, filter::TimedState;

/// A Kalman filter's pass over the log: the way that a smoother starts from, and how probable the readings were.
struct Pass {
  double log_likelihood = -kInfinity;
  std::vector<TimedState> way;
};

Pass follow(const Machine& machine, const Belief& start, const std::vector<Measurement>& readings, double step,
            bool keep) {
  constexpr double kHuber = 3;  // one outlier does not lead the way astray
  Pass pass;
  filter::KalmanOptions options;
  options.step = step;
  options.huber = kHuber;
  auto kalman = filter::Ekf::make(machine.space->clone(), start, options);
  if (!kalman) return pass;
  double sum = 0;
  for (const Measurement& reading : readings) {
    if (!(*kalman)->push(reading)) return pass;
    sum += (*kalman)->log_likelihood();
    if (!keep) continue;
    if (!pass.way.empty() && pass.way.back().t == reading.t) pass.way.pop_back();
    pass.way.push_back({reading.t, (*kalman)->state().x});
  }
  pass.log_likelihood = std::isfinite(sum) ? sum : -kInfinity;
  return pass;
}

/// Of each branch the start from which the readings are most probable; none where none can follow them.
Result<std::vector<const Belief*>> best_starts(const Machine& machine, const std::vector<Belief>& starts, int branches,
                                               const std::vector<Measurement>& readings, double step,
                                               const Progress& progress) {
  std::vector<const Belief*> best(branches, nullptr);
  std::vector<double> most(branches, -kInfinity);
  for (const Belief& start : starts) {
    if (progress && !progress(0)) return Failure::interrupted();
    const double likely = starts.size() == 1 ? 0 : follow(machine, start, readings, step, false).log_likelihood;
    if (likely > most[start.branch]) most[start.branch] = likely, best[start.branch] = &start;
  }
  return best;
}

/// Where the start is one of many places, the place says nothing: any place, as wide as a turn.
Belief without_place(Belief start, int freedoms) {
  constexpr double kAnywhere = 2;  // rad: the deviation of an angle that may be any
  for (int i = 0; i < freedoms; ++i) {
    start.P.row(i).setZero();
    start.P.col(i).setZero();
    start.P(i, i) = kAnywhere * kAnywhere;
  }
  return start;
}

/// The residuals of the smoothed motion, told as innovations are.
void tell_residuals(const std::vector<Measurement>& readings, const Smoothed& smoothed,
                    const std::vector<filter::SensorInfo>& sensors, InnovationWatch& watch) {
  for (std::size_t i = 0; i < readings.size(); ++i) {
    filter::Innovation told;
    told.t = readings[i].t;
    told.sensor = readings[i].sensor;
    told.e = smoothed.readings[i].e;
    told.sd = smoothed.readings[i].sd;
    for (std::size_t row = 0; row < sensors[told.sensor].channels.size(); ++row) {
      if (std::isnan(told.e[row])) continue;
      ++told.rows;
      told.nis += std::pow(told.e[row] / told.sd[row], 2);
    }
    watch.add(told);
  }
}

Result<std::monostate> write(Machine& machine, const Smoothed& smoothed, const EstimateOptions& options,
                             const EstimateSummary& summary, EstimateResult& result) {
  EstimateTable table(machine, {.branches = static_cast<int>(summary.branches.size())});
  result.trajectory = Trajectory(table.names());
  for (std::size_t k = 0; k < smoothed.knots.size(); ++k) {
    if (!options.keep || (k % options.every != 0 && k + 1 != smoothed.knots.size())) continue;
    if (!table.row(smoothed.knots[k], summary.branches, result.trajectory.append(smoothed.knots[k].t))) {
      return Failure::no_answer(fmt::format("no accelerations at t = {} s", time_text(smoothed.knots[k].t)));
    }
  }
  return std::monostate{};
}

}  // namespace

Result<EstimateResult> run_batch(Machine& machine, const EstimateStart& start, const std::vector<LogReading>& log,
                                 const EstimateOptions& options, EstimateSummary& summary) {
  std::vector<Measurement> readings;
  for (const LogReading& reading : log) readings.push_back(reading.measurement);
  std::stable_sort(readings.begin(), readings.end(),
                   [](const Measurement& a, const Measurement& b) { return a.t < b.t; });
  const auto starts = start.beliefs();
  if (!starts) return starts.failure();
  summary.hypotheses = static_cast<int>(starts->size());

  const auto begin = Clock::now();
  filter::SmootherOptions settings;
  const double step = settings.step = summary.step / summary.substeps;
  settings.loss = loss_of(options);
  settings.progress = options.progress;
  settings.threads = options.threads;
  Result<Smoothed> best = Failure::no_answer("no start agrees with the readings");
  std::vector<double> evidence(start.branches(), -kInfinity);
  double most = -kInfinity;
  const auto chosen = best_starts(machine, *starts, start.branches(), readings, step, options.progress);
  if (!chosen) return chosen.failure();
  for (const Belief* from : *chosen) {
    if (!from) continue;
    const Pass pass = follow(machine, *from, readings, step, true);
    for (const TimedState& state : pass.way) {
      summary.turn = std::max(summary.turn, summary.step * turning(machine, state.x));
    }
    const Belief prior = start.unknown() ? without_place(*from, machine.plant().freedoms()) : *from;
    auto smoothed = filter::smooth(*machine.space, prior, readings, settings,
                                   std::isfinite(pass.log_likelihood) ? pass.way : std::vector<TimedState>{});
    if (!smoothed) {
      if (smoothed.failure().kind != Failure::Kind::no_answer) return smoothed.failure();
      if (!best) best = smoothed.failure();
      continue;
    }
    evidence[from->branch] = smoothed->log_evidence;
    if (best && smoothed->log_evidence <= most) continue;
    most = smoothed->log_evidence;
    summary.branch = from->branch;
    best = std::move(smoothed);
  }
  if (!best) return best.failure();

  summary.wall_s = seconds_since(begin);
  summary.steps = std::max<long>(1, static_cast<long>(best->knots.size()) - 1);
  summary.iterations = best->iterations;
  double sum = 0;
  for (const double e : evidence) summary.branches.push_back(std::exp(e - most));
  for (const double p : summary.branches) sum += p;
  for (double& p : summary.branches) p /= sum;
  if (!best->converged) return Failure::no_answer("the smoother did not converge: " + best->why_not);
  InnovationWatch watch(machine.space->sensors(), options.keep_innovations, false);
  tell_residuals(readings, *best, machine.space->sensors(), watch);
  watch.tell(summary);
  tell_end(machine, best->knots.back(), summary);
  EstimateResult result;
  if (options.keep_innovations) result.innovations = watch.table();
  if (auto written = write(machine, *best, options, summary, result); !written) return written.failure();
  return result;
}

}  // namespace kinegraph::task
