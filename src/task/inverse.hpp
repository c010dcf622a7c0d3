#pragma once

#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

struct InverseOptions {
  std::vector<std::string> actuators;  ///< relative coordinates whose torque is asked for; default: motors, else all
  double noise = 0;  ///< standard deviation of the prescribed samples, if more than their printed digits say
  bool reactions = false;
  Progress progress;
};

struct InverseSummary {
  long samples = 0;
  double wall_s = 0, sample_us = 0, iterations_mean = 0;
  double constraint_max = 0, following_error_max = 0;  ///< largest distance from the prescribed values
  std::vector<std::string> actuators, prescribed;
  std::vector<double> torque_peak, torque_rms;  ///< per actuator
  std::vector<std::string> warnings;            ///< singular positions passed or near, columns that contradict
};

struct InverseResult {
  Trajectory trajectory;  ///< as simulate's, plus actuator.tau
  InverseSummary summary;
};

/// `motion`: columns named as coordinates ("theta.q", "6.x"), one per degree of freedom, on an even grid. More are
/// compared with what is found. Angles may have been recorded within one turn.
Result<InverseResult> inverse(const Model& model, const Trajectory& motion, const InverseOptions& options);

}  // namespace kinegraph::task
