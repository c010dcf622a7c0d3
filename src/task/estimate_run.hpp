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

/// The loss that the options name.
Loss loss_of(const EstimateOptions& options);
/// What is known of every number of the state.
void tell_end(Machine& machine, const filter::Belief& belief, EstimateSummary& summary);

}  // namespace kinegraph::task
