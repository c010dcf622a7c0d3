#pragma once

#include <string>
#include <vector>

#include "kinegraph/task/estimate.hpp"
#include "kinegraph/task/estimate_start.hpp"

namespace kinegraph::task {

/// Runs the estimator that the options name until its motion can be believed: where the machine turns by more than half
/// a radian within a step (or cannot be followed) and no step was asked for, the motion between readings goes in
/// smaller parts; where an unknown start leads to a motion that does not explain the readings, from hypotheses three
/// times as dense. Fills in `summary`.
Result<EstimateResult> fit(Machine& machine, EstimateStart& start, const std::vector<LogReading>& readings,
                           const EstimateOptions& options, EstimateSummary& summary);

/// The mean NIS per number of other readings; infinite where there is no motion. `summary`: as fit() got it.
double misfit_with(Machine& machine, EstimateStart& start, const std::vector<LogReading>& readings,
                   EstimateOptions options, EstimateSummary summary);

/// "the machine turns by up to 1.2 rad within a step …": that the step is too long for the motion; empty: it is not.
std::string step_hint(const EstimateSummary& summary);

/// How fast a machine turns: the largest rate of its angles, rad/s. 0: it has none.
double turning(const Machine& machine, const Eigen::VectorXd& x);

}  // namespace kinegraph::task
