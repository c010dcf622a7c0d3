#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kinegraph/mechanics/maximal/balance.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::experiments {

/// Readings of a machine that is simulated in fine steps of the maximal formulation: what identification is given.
struct RecordingPlan {
  double time = 40, step = 1e-4;
  int every = 100;                  ///< steps from one reading to the next
  int control_every = 100;          ///< steps for which a control is held
  std::vector<std::string> joints;  ///< columns NAME.q
  double noise = 0.001;             ///< rad
  unsigned long seed = 0;
  maximal::Regularization regularization{.compliance = 1e-5, .angular_compliance = 1e-5, .relaxation = 0.02};
  std::string driven;  ///< joint whose control is recorded as NAME.u
  /// The control from time, joint positions and rates (in the order of `joints`).
  std::function<double(double t, const std::vector<double>& q, const std::vector<double>& v)> control;
};

/// t, NAME.q …, and NAME.u of a driven joint. The start is the model's initial values.
Trajectory record(const Model& model, const RecordingPlan& plan);

Model read(const std::string& file,
           const Settings& settings);  ///< of models/; exits with the message if it cannot be read

/// Of paper 002, with its gravity; angles start at 0 and `theta2`.
Model furuta(double theta2, Settings settings = {});

}  // namespace kinegraph::experiments
