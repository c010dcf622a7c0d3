#include "kinegraph/task/estimate_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/mechanics/screw/tree.hpp"
#include "kinegraph/task/estimate_run.hpp"
#include "kinegraph/task/estimate_verdict.hpp"

namespace kinegraph::task {
namespace {

// rad per step. Of a rotation by φ a Runge-Kutta step of fourth order misses about φ⁵ / 120.
constexpr double kWidest = 0.5, kWanted = 0.25;
constexpr double kNoticeable = 0.1;            // below this a motion does not end because of its steps
constexpr int kMostSubsteps = 64, kTries = 3;  // 4, 16, 64: a state that was led astray may seem to turn very fast
constexpr int kMostOfBatch = 16;               // each is a knot, and is gone through from every start
constexpr double kMoreParts = 4;

Result<EstimateResult> run_once(Machine& machine, const EstimateStart& start, const std::vector<LogReading>& readings,
                                const EstimateOptions& options, EstimateSummary& summary) {
  return options.filter == "batch" ? run_batch(machine, start, readings, options, summary)
                                   : run_sequential(machine, start, readings, options, summary);
}

bool no_answer(const Result<EstimateResult>& result) {
  return !result && result.failure().kind == Failure::Kind::no_answer;
}

/// "2ms" of a step in which the machine would turn by as much as is wanted, one digit.
std::string better_step(const EstimateSummary& summary) {
  const double step = summary.step * kWanted / summary.turn, unit = std::pow(10, std::floor(std::log10(step)));
  return fmt::format("{:g}ms", 1e3 * std::max(1.0, std::floor(step / unit)) * unit);
}

int most_substeps(const EstimateSummary& summary) { return summary.filter == "batch" ? kMostOfBatch : kMostSubsteps; }

/// How many parts of a step its motion asks for, after what came of it.
int substeps_wanted(const Result<EstimateResult>& result, const EstimateSummary& summary) {
  const double turn = summary.turn / summary.substeps;
  if (result ? turn <= kWidest : !no_answer(result) || turn <= kNoticeable) return summary.substeps;
  if (summary.filter == "batch") {  // once: a run from every start takes long
    return std::clamp(static_cast<int>(std::min<double>(std::ceil(summary.turn / kWanted), kMostOfBatch)), 4,
                      kMostOfBatch);
  }
  const double most = std::min<double>(kMoreParts * summary.substeps, most_substeps(summary));
  return static_cast<int>(result ? std::min(std::ceil(summary.turn / kWanted), most) : most);
}

/// What a step that is too long has to do with a failure.
Failure with_turn(Failure failure, const EstimateSummary& summary) {
  if (failure.kind != Failure::Kind::no_answer || summary.turn <= kNoticeable) return failure;
  failure.diagnostics.front().message +=
      summary.substeps >= most_substeps(summary)
          ? fmt::format("; there the machine turns by {:.2g} rad within a step of {:g} s", summary.turn, summary.step)
          : fmt::format("; there the machine turns by {:.2g} rad within a step of {:g} s: take a smaller --step, {}",
                        summary.turn, summary.step, better_step(summary));
  return failure;
}

}  // namespace

double turning(const Machine& machine, const Eigen::VectorXd& x) {
  const double* v = x.data() + machine.plant().positions();
  double most = 0;
  if (machine.system) {
    const std::vector<RelativeCoordinate>& relative = machine.model.relative;
    const double* rate = v + machine.plant().velocities() - relative.size();
    for (std::size_t i = 0; i < relative.size(); ++i) {
      if (relative[i].type != RelativeCoordinate::Type::relative_position) most = std::max(most, std::abs(rate[i]));
    }
    return most;
  }
  for (const screw::Coordinate& c : machine.tree->coordinates()) {
    const bool ball = c.type == JointType::ball || c.type == JointType::floating;
    const bool hinge =
        c.type == JointType::revolute || c.type == JointType::continuous || c.type == JointType::universal;
    if (ball) most = std::max(most, Eigen::Map<const Eigen::Vector3d>(v + c.v).norm());
    for (int k = 0; hinge && k < c.freedoms; ++k) most = std::max(most, std::abs(v[c.v + k]));
  }
  return most;
}

Result<EstimateResult> fit(Machine& machine, EstimateStart& start, const std::vector<LogReading>& readings,
                           const EstimateOptions& options, EstimateSummary& summary) {
  EstimateSummary begun = summary;
  auto result = run_once(machine, start, readings, options, summary);
  for (int tries = 0; tries < (options.filter == "batch" ? 1 : kTries) && options.step == 0; ++tries) {
    const int wanted = substeps_wanted(result, summary);
    if (wanted <= summary.substeps) break;
    begun.substeps = wanted;
    summary = begun;
    result = run_once(machine, start, readings, options, summary);
  }
  const bool poor =
      result ? implausible(summary) && off_as_a_rule(summary) : no_answer(result) && options.filter != "batch";
  if (poor && start.unknown() && options.filter != "particle") {
    EstimateSummary other = begun;
    start.refine();
    auto again = run_once(machine, start, readings, options, other);
    if (!again && again.failure().kind == Failure::Kind::interrupted) return again.failure();
    if (again && (!result || other.nis_mean < summary.nis_mean)) {
      result = std::move(again);
      summary = std::move(other);
    }
  }
  if (!result) return with_turn(result.failure(), summary);
  if (std::string hint = step_hint(summary); !hint.empty()) summary.warnings.push_back(std::move(hint));
  return result;
}

std::string step_hint(const EstimateSummary& summary) {
  if (summary.turn <= kWidest * summary.substeps) return "";
  return fmt::format("the machine turns by up to {:.2g} rad within a step of {:g} s: take a smaller --step, {}",
                     summary.turn, summary.step, better_step(summary));
}

double misfit_with(Machine& machine, EstimateStart& start, const std::vector<LogReading>& readings,
                   EstimateOptions options, EstimateSummary summary) {
  options.keep = options.keep_innovations = false;
  const auto result = run_once(machine, start, readings, options, summary);
  return result ? summary.nis_mean : std::numeric_limits<double>::infinity();
}

}  // namespace kinegraph::task
