#pragma once

#include <vector>

#include "kinegraph/task/identify_fit.hpp"

namespace kinegraph::task {

/// Whether numbers in the order of time are independent of each other.
///
///     rₖ = Σ uᵢ uᵢ₋ₖ / Σ uᵢ², judged by base/whiteness.hpp
struct Whiteness {
  std::vector<double> correlation;
  double ljung_box = 0, p_value = 1;
};
Whiteness whiteness(const std::vector<double>& numbers, int lags = 20);

/// What is left of each channel that was read, of all runs.
std::vector<IdentifySummary::Channel> residual_channels(const Fit& fit, const identify::Weights& weights);

/// Inputs that stay at their largest for long, or that follow the motion as a controller's do.
std::vector<std::string> input_warnings(const Fit& fit);

/// Root mean square; where outliers are expected, of a normal distribution with the same median.
double residual_size(std::vector<double> residuals, bool outliers);

}  // namespace kinegraph::task
