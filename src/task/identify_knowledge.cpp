#include "kinegraph/task/identify_knowledge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/identify/knowable.hpp"
#include "kinegraph/task/identify_rest.hpp"
#include "kinegraph/task/identify_structure.hpp"
#include "kinegraph/task/identify_weights.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task {
namespace {

/// Information and scatter on x with weights that the residuals themselves give. Nobody takes rows from the fit after
/// that.
Result<identify::SolverReport> weighed_again(Fit& fit, const FitData& data, const identify::Weights& weights,
                                             const IdentifyOptions& options) {
  std::vector<identify::Problem> problems;
  problems.reserve(fit.runs.size());
  for (std::size_t i = 0; i < fit.runs.size(); ++i) {
    problems.emplace_back(data.model, fit.parameters.shared_mechanism(), fit.runs[i], regularization_of(options),
                          weights);
    problems.back().expect_as(fit.problems[i]);
  }
  Eigen::VectorXd x = fit.x;
  std::vector<std::vector<double>> poses = fit.poses;
  identify::SolverOptions once;
  once.most_iterations = 0;
  once.memory = fit.memory.get();
  Result<identify::SolverReport> report = identify::solve(fit.parameters, problems, x, poses, once);
  fit.free_rows();
  return report;
}

identify::Evidence evidence_of(const Fit& fit, const identify::SolverReport& report, double variance) {
  identify::Evidence evidence;
  evidence.information = report.information / variance;
  evidence.scatter = report.scatter / (variance * variance);
  const std::vector<identify::Quantity> now = fit.parameters.quantities(fit.x);
  const std::vector<identify::Quantity> start = fit.parameters.quantities(fit.parameters.start());
  const auto count = static_cast<Eigen::Index>(now.size());
  evidence.values.resize(count);
  evidence.scales.resize(count);
  evidence.sizes.setZero(count);
  const double gravity = fit.machine.numbers.segment<3>(maximal::Mechanism::kGravity).norm();
  evidence.slopes.resize(count, fit.parameters.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    evidence.names.push_back(now[i].name);
    evidence.values[i] = now[i].value;
    evidence.scales[i] = std::abs(start[i].value != 0 ? start[i].value : now[i].value);
    if (now[i].name.starts_with("gravity.")) evidence.scales[i] = evidence.sizes[i] = gravity;
    evidence.slopes.row(i) = now[i].slope.transpose();
  }
  return evidence;
}

/// What priors say beside the recordings: as one more reading of each coordinate that has one.
void count_priors(const identify::Parameters& parameters, identify::Evidence& evidence) {
  for (int i = 0; i < parameters.size(); ++i) {
    const double sigma = parameters.prior()[i];
    if (!std::isfinite(sigma) || !(sigma > 0)) continue;
    evidence.information(i, i) += 1 / (sigma * sigma);
    evidence.scatter(i, i) += 1 / (sigma * sigma);
  }
}

/// How much of what is known of a quantity is its prior: 0, the recordings tell all, … 1, nothing.
double prior_share(const identify::Parameters& parameters, const identify::Quantity& quantity, double sd) {
  double square = 0;
  for (int i = 0; i < parameters.size(); ++i) {
    if (quantity.slope[i] != 0) square += std::pow(quantity.slope[i] * parameters.prior()[i], 2);
  }
  return std::isfinite(square) && square > 0 && std::isfinite(sd) ? std::min(1.0, sd * sd / square) : 0;
}

bool at_bound(const identify::Quantity& quantity, const std::vector<bool>& bound) {
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (bound[i] && quantity.slope[static_cast<Eigen::Index>(i)] != 0) return true;
  }
  return false;
}

constexpr double kTold = 0.1;  // of what is known: less of a prior is not worth a word

void add_quantities(const Fit& fit, const identify::Knowable& known, IdentifySummary& summary) {
  const std::vector<identify::Quantity> now = fit.parameters.quantities(fit.x);
  const std::vector<identify::Quantity> start = fit.parameters.quantities(fit.parameters.start());
  for (std::size_t i = 0; i < now.size(); ++i) {
    const identify::KnownQuantity& told = known.quantities[i];
    IdentifySummary::Quantity& out = summary.quantities.emplace_back();
    out.name = now[i].name;
    out.start = start[i].value;
    out.value = out.at_step = out.at_half_step = now[i].value;
    out.sd = told.deviation.value_or(kNan);
    out.sandwich = identify::told_deviation(out.sd, told.sandwich);
    out.identifiable = told.identifiable;
    out.remark = told.remark;
    if (const double share = prior_share(fit.parameters, now[i], out.sd); told.identifiable && share >= kTold) {
      out.remark += fmt::format("{}{:.0f} % from its prior", out.remark.empty() ? "" : "; ", 100 * share);
    }
    out.step_bias = told.bias;
    out.at_bound = at_bound(now[i], fit.report.at_bound);
  }
  summary.correlations = known.correlation;
  for (Eigen::Index i = 0; i < summary.correlations.rows(); ++i) {
    if (known.quantities[i].identifiable) continue;
    summary.correlations.row(i).setConstant(kNan);
    summary.correlations.col(i).setConstant(kNan);
  }
}

/// Bounds and possible solids that hold the search back: beyond them residuals would be smaller.
void warn_of_limits(const Fit& fit, IdentifySummary& summary) {
  std::vector<std::string> names;
  for (const IdentifySummary::Quantity& q : summary.quantities) {
    if (q.at_bound && q.identifiable) names.push_back(q.name);
  }
  if (!names.empty()) {
    summary.warnings.push_back(
        fmt::format("held back by bounds: {}; the recordings ask for values beyond them, and "
                    "deviations do not count that",
                    fmt::join(names, ", ")));
  }
  const std::vector<identify::Quantity> quantities = fit.parameters.quantities(fit.x);
  const std::vector<identify::MatrixInequality> inequalities = fit.parameters.inequalities(fit.x);
  for (std::size_t j = 0; j < std::min(inequalities.size(), fit.report.at_edge.size()); ++j) {
    if (!fit.report.at_edge[j]) continue;
    const auto told = [&](std::size_t i) {  // of what cannot be told any value will do, that at the edge too
      for (Eigen::Index c = 0; c < quantities[i].slope.size(); ++c) {
        if (quantities[i].slope[c] != 0 && !inequalities[j].slope[c].isZero(0)) return true;
      }
      return false;
    };
    names.clear();
    for (std::size_t i = 0; i < quantities.size(); ++i) {
      if (summary.quantities[i].identifiable && told(i)) names.push_back(quantities[i].name);
    }
    if (names.empty()) continue;
    summary.warnings.push_back(fmt::format("held back by what a solid can have: {} ({}); the recordings ask for more",
                                           inequalities[j].what, fmt::join(names, ", ")));
  }
}

/// Where the step does more than noise.
void warn_of_bias(double step, IdentifySummary& summary) {
  constexpr double kMatters = 2;  // deviations
  std::vector<std::string> names;
  for (const IdentifySummary::Quantity& q : summary.quantities) {
    if (q.identifiable && std::abs(q.step_bias) > kMatters * q.sd) names.push_back(q.name);
  }
  if (names.empty()) return;
  summary.warnings.push_back(
      fmt::format("the step of {:g} s moves some values by more than noise does: {}; deviations "
                  "count it; --richardson takes it back, or a shorter --step",
                  step, fmt::join(names, ", ")));
}

void add_combinations(const identify::Knowable& known, IdentifySummary& summary) {
  for (const identify::UnknownGroup& group : known.unknown) {
    summary.unknown.push_back({group.text, kNan, kNan, kNan});
    for (const identify::KnownCombination& c : group.known) {
      double size = 0;
      for (std::size_t i = 0; i < c.quantities.size(); ++i) {
        size = std::max(size, std::abs(c.coefficients[i] * known.quantities[c.quantities[i]].value));
      }
      summary.known.push_back({c.text, c.value, identify::told_deviation(c.deviation, c.sandwich), size});
    }
  }
}

}  // namespace

bool possible(const identify::Parameters& parameters, const Eigen::VectorXd& x) {
  for (const identify::MatrixInequality& inequality : parameters.inequalities(x)) {
    const Eigen::LLT<Eigen::MatrixXd> factor(inequality.value);
    if (!inequality.value.allFinite() || factor.info() != Eigen::Success) return false;
  }
  return true;
}

void add_steps(const identify::Parameters& parameters, const Eigen::VectorXd& coarse, const Eigen::VectorXd& half,
               IdentifySummary& summary) {
  const std::vector<identify::Quantity> at_step = parameters.quantities(coarse);
  const std::vector<identify::Quantity> at_half = parameters.quantities(half);
  for (std::size_t i = 0; i < summary.quantities.size(); ++i) {
    summary.quantities[i].at_step = at_step[i].value;
    summary.quantities[i].at_half_step = at_half[i].value;
  }
}

std::optional<Failure> add_knowledge(Fit& fit, const FitData& data, const identify::Weights& weights,
                                     const IdentifyOptions& options, const Eigen::VectorXd& bias,
                                     IdentifySummary& summary) {
  const screw::Tree& tree = fit.parameters.mechanism().tree();
  const int freedoms = spatial_mobility(tree, tree.start_position()).freedoms;
  const identify::Weights found = reestimated(fit, weights, freedoms);
  const double unit = noise_unit(data.model.sensors, data.runs, weights);
  summary.kappa_found = weights.hard ? kNan : found.kappa * unit * unit;
  double variance = 1;
  if (options.reestimate) {
    Result<identify::SolverReport> again = weighed_again(fit, data, found, options);
    if (!again) return again.failure();
    fit.report.information = std::move(again->information);
    fit.report.scatter = std::move(again->scatter);
  } else {
    variance = std::max(fit.report.cost, std::numeric_limits<double>::min()) /
               static_cast<double>(std::max(fit.reading_rows(), 1L));
  }
  forget(unseen_directions(fit), fit.report);
  identify::Evidence evidence = evidence_of(fit, fit.report, variance);
  count_priors(fit.parameters, evidence);
  evidence.bias = bias;
  const identify::Knowable known = identify::what_is_knowable(evidence);
  add_quantities(fit, known, summary);
  warn_of_limits(fit, summary);
  warn_of_bias(data.options.step, summary);
  add_combinations(known, summary);
  const auto turns = [](const identify::FreeParameter& free) { return free.name == "gravity.direction"; };
  if (data.model.spatial() && std::any_of(options.free.begin(), options.free.end(), turns)) {
    IdentifySummary::Combination& turn = summary.unknown.emplace_back();
    turn.text = "a turn of the machine about gravity.direction: no recording can see it";
    turn.value = turn.sd = turn.size = kNan;
  }
  // A number whose deviation is larger than itself tells nothing; what the step adds to it is warned of above, and is
  // no fault of the recordings.
  const std::vector<identify::Quantity> quantities = fit.parameters.quantities(fit.x);
  const auto told = [&](const IdentifySummary::Quantity& of) {
    constexpr double kPriorAlone = 0.99;
    const identify::Quantity& quantity = quantities[static_cast<std::size_t>(&of - summary.quantities.data())];
    const double noise = std::sqrt(std::max(0.0, of.sandwich * of.sandwich - of.step_bias * of.step_bias));
    return of.identifiable && noise < std::max(std::abs(of.value), std::abs(of.start)) &&
           prior_share(fit.parameters, quantity, of.sd) < kPriorAlone;
  };
  const auto sized = [](const IdentifySummary::Combination& c) { return c.sd < c.size; };
  const bool still = stands_still(data.model.sensors, fit.runs, weights);
  if (!still || acts_at_rest(fit)) {
    if (std::any_of(summary.quantities.begin(), summary.quantities.end(), told)) return {};
    if (std::any_of(summary.known.begin(), summary.known.end(), sized)) return {};
  }
  std::vector<std::string> names;
  for (const IdentifySummary::Quantity& q : summary.quantities) names.push_back(q.name);
  return Failure::no_answer(fmt::format(
      "not identifiable: {}: {}", fmt::join(names, ", "),
      still ? "the machine stands still in the recordings, no reading changes by more than its noise"
            : "the recordings do not tell them apart from noise; the machine has to move more, or otherwise"));
}

}  // namespace kinegraph::task
