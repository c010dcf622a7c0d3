#pragma once

#include "kinegraph/filter/smoother.hpp"
#include "kinegraph/task/estimate.hpp"
#include "kinegraph/task/estimate_start.hpp"

namespace kinegraph::task {

/// Feeds the log, in the order of arrival, to the estimator that the options name, and writes down what it believes at
/// every step; fills in `summary`.
Result<EstimateResult> run_sequential(Machine& machine, const EstimateStart& start,
                                      const std::vector<LogReading>& readings, const EstimateOptions& options,
                                      EstimateSummary& summary);

/// All readings at once: of every branch the motion that explains them best.
Result<EstimateResult> run_batch(Machine& machine, const EstimateStart& start, const std::vector<LogReading>& readings,
                                 const EstimateOptions& options, EstimateSummary& summary);

/// The estimator that the options name, at its start; fills in `summary`. `numbers`: which branches its probabilities
/// are of.
Result<std::unique_ptr<filter::Estimator>> make_estimator(const Machine& machine, const EstimateStart& start,
                                                          const EstimateOptions& options, EstimateSummary& summary,
                                                          std::vector<int>& numbers);

/// Over which time noise rounds off dry friction (MachineSettings): within a step it acts half a step long, on the
/// mean; who is linear about a prediction does not know v better than the noise of the step before leaves it either.
/// Sigma points and particles are spread out already.
double friction_span(const EstimateSummary& summary);

/// Friction in joints is of links and joints in space alone: a planar model that has it is taken as such. Refused:
/// kinds that estimators cannot follow.
Result<std::monostate> choose_formulation(const Model& model, MachineSettings& settings);

/// The loss that the options name.
Loss loss_of(const EstimateOptions& options);
/// What is known of every number of the state.
void tell_end(Machine& machine, const filter::Belief& belief, EstimateSummary& summary);

}  // namespace kinegraph::task
