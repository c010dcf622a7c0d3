#pragma once

#include <optional>

#include "kinegraph/task/identify_fit.hpp"

namespace kinegraph::task {

/// Quantities with their deviations, combinations that can and cannot be told, correlations. The noise of readings and
/// impulses is found again from the residuals first, if the options say so. `bias`: of x by the step, or empty. If
/// nothing of what is free can be told: no_answer.
std::optional<Failure> add_knowledge(Fit& fit, const FitData& data, const identify::Weights& weights,
                                     const IdentifyOptions& options, const Eigen::VectorXd& bias,
                                     IdentifySummary& summary);

/// What quantities are at a step and at half of it.
void add_steps(const identify::Parameters& parameters, const Eigen::VectorXd& coarse, const Eigen::VectorXd& half,
               IdentifySummary& summary);

/// Whether links are possible solids at x.
bool possible(const identify::Parameters& parameters, const Eigen::VectorXd& x);

}  // namespace kinegraph::task
