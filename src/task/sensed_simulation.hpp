#pragma once

#include "kinegraph/task/simulate.hpp"

namespace kinegraph::task {

struct SensedOptions {
  SimulateOptions motion;
  bool sensors = true;     ///< read the model's sensors along the motion
  bool disturbed = false;  ///< drive the motion by the model's process noise and unknown forces
  unsigned long seed = 0;
};

struct SensedResult {
  SimulateResult motion;
  Trajectory readings;  ///< NaN where a sensor has none at that time
  long lost = 0;        ///< readings that dropped out
};

/// A motion and what the model's sensors read along it, for the test of estimators. A disturbed motion is stepped on
/// the constraints by an integrator of `step`, every interval followed by a change drawn from the process noise, with a
/// step at every reading: readings and motion are then what estimators assume, exactly.
Result<SensedResult> simulate_sensed(const Model& model, const SensedOptions& options);

}  // namespace kinegraph::task
