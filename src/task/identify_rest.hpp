#pragma once

#include "kinegraph/task/identify_fit.hpp"

namespace kinegraph::task {

/// Whether no reading changes by more than its noise makes it: the machine stands still, and what a fit makes of
/// friction and inertia is made of noise.
bool stands_still(const std::vector<Sensor>& sensors, const std::vector<identify::Run>& runs,
                  const identify::Weights& weights);

/// Whether a machine that stands still could tell something of what is free: by the balance of its springs, loads and
/// motors, by where it stands, or by its sensors' own numbers.
bool acts_at_rest(const Fit& fit);

}  // namespace kinegraph::task
