#include "kinegraph/task/identify_weights.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/task/identify_residuals.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task {
namespace {

constexpr double kFewNumbers = 20;   // of which no noise can be told
constexpr double kMostNoise = 1e3;   // from what was assumed
constexpr double kMostGrowth = 100;  // of κ at once: the way to a large one is narrow
constexpr double kFurther = 1.5;     // the way to the most likely κ is longer than each round tells
constexpr double kStays = 3;         // a factor of κ that changes next to nothing
constexpr int kMostWeighings = 6;

int freedoms_of(const identify::Parameters& parameters) {
  const screw::Tree& tree = parameters.mechanism().tree();
  return spatial_mobility(tree, tree.start_position()).freedoms;
}

}  // namespace

identify::Weights reestimated(const Fit& fit, const identify::Weights& weights, int freedoms) {
  identify::Weights found = weights;
  const Eigen::VectorXd& absorbed = fit.report.absorbed;
  double taken = 0;
  for (int c = 0; c < static_cast<int>(weights.noise.size()); ++c) {
    std::vector<double> left;
    for (const identify::Problem& problem : fit.problems) {
      const std::vector<double> one = problem.residuals(c);
      left.insert(left.end(), one.begin(), one.end());
    }
    const double count = static_cast<double>(left.size());
    const double gamma = c < absorbed.size() ? absorbed[c] : 0;
    taken += gamma;
    if (count - gamma < kFewNumbers) continue;
    const double size = residual_size(std::move(left), weights.loss != "none") * std::sqrt(count / (count - gamma));
    if (!(size > 0)) continue;
    found.noise[c] = std::clamp(size, weights.noise[c] / kMostNoise, weights.noise[c] * kMostNoise);
  }
  if (weights.hard) return found;
  const double starts = 2.0 * freedoms * static_cast<double>(fit.problems.size());
  const double cost = fit.impulse_cost(), errors = taken - starts;
  const double likely = cost > 0 ? std::max(errors, 1.0) / cost : weights.kappa;
  // Where the model misses nothing, as far as short recordings can tell, the likelihood is flat, and κ would grow
  // without end: so far that it holds what it knows nothing of. γ is known to √(starts/2), by its probes.
  const double flat = 1 + 2 * std::sqrt(starts / 2);
  if (errors > flat || likely < weights.kappa) found.kappa = likely;
  return found;
}

Result<Fit> fit_and_weigh(const Model& model, const identify::Parameters& parameters, const FitData& data,
                          const IdentifyOptions& options, const FitStart& start, identify::Weights& weights,
                          const Progress& progress) {
  const int freedoms = freedoms_of(parameters);
  constexpr double kFirst = 0.5;  // of the time, about; each further fit takes half of what is left
  double done = kFirst;
  Result<Fit> found =
      fit(model, parameters, data.runs, data.options, weights, options, start, part_of(progress, 0, done));
  for (int round = 0; found && round < kMostWeighings; ++round) {
    identify::Weights next = reestimated(*found, weights, freedoms);
    const double growth = next.kappa / weights.kappa;
    if (growth < kStays && growth > 1 / kStays) break;
    next.kappa = weights.kappa * std::clamp(std::pow(growth, kFurther), 1 / kMostGrowth, kMostGrowth);
    const double end = 0.5 * (done + 1);
    found->free_rows();
    Result<Fit> again = fit(model, parameters, data.runs, data.options, next, options,
                            {found->x, &found->poses, found->memory, true}, part_of(progress, done, end));
    done = end;
    if (!again && again.failure().kind == Failure::Kind::interrupted) return again;
    if (!again || !again->report.converged) break;
    continue_search(found->report, again->report);
    found = std::move(again);
    weights = next;
  }
  return found;
}

}  // namespace kinegraph::task
