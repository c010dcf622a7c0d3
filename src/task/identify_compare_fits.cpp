#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/task/identify_check.hpp"
#include "kinegraph/task/identify_compare.hpp"

namespace kinegraph::task {
namespace {

/// Recordings cut in the middle: first halves to be fitted, second ones held out.
Result<FitData> halves(const Model& model, const maximal::Mechanism& mechanism,
                       const std::vector<Trajectory>& recordings, const IdentifyOptions& options, double step) {
  FitData all;
  all.model = model;
  for (const Trajectory& table : recordings) {
    IdentifyOptions cut = options;
    const double begin = std::max(options.from, table.times().front());
    const double end = std::min({options.to, options.validate_from, table.times().back()});
    cut.to = std::min(options.to, options.validate_from);
    cut.validate_from = 0.5 * (begin + end);
    Result<FitData> one = read_data(all.model, mechanism, {table}, {}, cut, step);
    if (!one) return one.failure();
    all.model = std::move(one->model);
    all.options = one->options;
    all.runs.push_back(std::move(one->runs.front()));
    all.held_out.push_back(std::move(one->held_out.front()));
  }
  return all;
}

class Comparer {
 public:
  Comparer(const FitData& data, const IdentifyOptions& options) : data_(data), options_(options) {
    options_.horizons.clear();
  }

  Result<Fit> fit_variant(const FrictionVariant& variant, const FitData& data, const Progress& progress) const {
    const Result<identify::Parameters> parameters = identify::Parameters::make(variant.model, variant.free);
    if (!parameters) return parameters.failure();
    return fit(variant.model, *parameters, data.runs, data.options,
               weights_of(variant.model.sensors, data_.runs, options_), options_,
               {parameters->start(), nullptr, nullptr, false}, progress);
  }

  /// The fit and how well it foretells what was fitted; what is held out follows.
  std::optional<Failure> compare(const FrictionVariant& variant, const FitData* cut, const Progress& progress,
                                 IdentifySummary::Comparison& row) {
    Result<Fit> whole = fit_variant(variant, data_, part_of(progress, 0, cut ? 0.5 : 1));
    if (!whole) return whole.failure();
    row.converged = whole->report.converged;
    row.cost = whole->report.cost;
    row.bic = bayes_criterion(row.cost, whole->reading_rows(), whole->parameters.size());
    for (const identify::Quantity& q : whole->parameters.quantities(whole->x)) {
      IdentifySummary::Quantity& of = row.quantities.emplace_back();
      of.name = q.name;
      of.value = q.value;
      of.sd = of.sandwich = std::numeric_limits<double>::quiet_NaN();
    }
    IdentifySummary found;
    FitData fitted_only = data_;
    fitted_only.held_out.clear();
    const identify::Weights weights = weights_of(variant.model.sensors, data_.runs, options_);
    if (const auto failure = add_checks(*whole, fitted_only, weights, options_, 1, {}, found)) return *failure;
    row.replay = pooled(found.checks);
    if (!cut) return hold_out(*whole, data_, weights, row);
    Result<Fit> half = fit_variant(variant, *cut, part_of(progress, 0.5, 1));
    if (!half) return half.failure();
    return hold_out(*half, *cut, weights, row);
  }

 private:
  std::optional<Failure> hold_out(Fit& fitted, const FitData& data, const identify::Weights& weights,
                                  IdentifySummary::Comparison& row) const {
    FitData later = data;
    later.runs.clear();
    IdentifySummary found;
    if (const auto failure = add_checks(fitted, later, weights, options_, 1, {}, found)) return *failure;
    row.held_out = pooled(found.checks);
    for (const IdentifySummary::Check& check : found.checks) {
      row.held_out_cost += check.cost / static_cast<double>(found.checks.size());
    }
    return {};
  }

  const FitData& data_;
  IdentifyOptions options_;
};

}  // namespace

Result<FrictionComparison> compare_friction(const Model& model, const maximal::Mechanism& mechanism,
                                            const std::vector<Trajectory>& recordings, const FitData& data,
                                            const IdentifyOptions& options, const Progress& progress) {
  std::optional<FitData> cut;
  if (data.held_out.empty()) {
    Result<FitData> made = halves(model, mechanism, recordings, options, data.options.step);
    if (!made) return made.failure();
    cut.emplace(*std::move(made));
  }
  FrictionComparison out;
  Comparer comparer(data, options);
  double best = std::numeric_limits<double>::infinity();
  for (const std::string& name : options.compare) {
    const Result<FrictionChoice> choice = read_friction_choice(name);
    if (!choice) return choice.failure();
    Result<FrictionVariant> variant = friction_variant(model, options.free, *choice);
    if (!variant) return variant.failure();
    IdentifySummary::Comparison& row = out.rows.emplace_back();
    row.name = name;
    row.parameters = static_cast<int>(variant->free.size());
    const auto count = static_cast<double>(options.compare.size()), done = static_cast<double>(out.rows.size());
    const Progress part = part_of(progress, (done - 1) / count, done / count);
    if (const auto failure = comparer.compare(*variant, cut ? &*cut : nullptr, part, row)) {
      if (failure->kind == Failure::Kind::interrupted || failure->kind == Failure::Kind::internal) return *failure;
      row.failure = failure->diagnostics.empty() ? "no answer" : failure->diagnostics.front().message;
    } else if (row.bic < best) {
      best = row.bic;
      out.best = *std::move(variant);
    }
    if (progress && !progress(done / count)) return Failure::interrupted();
  }
  return out;
}

}  // namespace kinegraph::task
