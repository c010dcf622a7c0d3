#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/identify/parameters.hpp"
#include "kinegraph/identify/run.hpp"
#include "kinegraph/step/regularized_step.hpp"

namespace kinegraph::identify {

/// How well one channel of a sensor is foretold.
struct ChannelError {
  std::string name, unit;
  long count = 0;
  double rmse = 0;
  double r_squared = 0;  ///< 1 − Σ(y − ŷ)² / Σ(y − ȳ)²; NaN where the readings do not change
  double persistence = 0;  ///< 1 − Σ(y − ŷ)² / Σ(y − y₀)², y₀: the last reading before the forecast; NaN: none of it
};

struct PredictionOptions {
  maximal::Regularization regularization;
  int substeps = 1;  ///< per step of the run
  /// Of the run's control records, with their gains: they compute the commands then, not the recording.
  std::vector<ControlLaw> controllers = {};
};

/// The machine left to itself with the recorded inputs, or with its controllers.
struct Replay {
  std::vector<ChannelError> channels;  ///< of those with readings
  std::vector<double> poses;           ///< at knots −1 … K, as far as it came
  int knots = 0;                       ///< that it reached, of those of the run: less if the motion is not finite
  bool complete = false;
};

/// What a machine with known numbers does along a run, from states that were estimated. Angles are compared the shorter
/// way round, but in a replay they are followed: a turn too many counts.
class Predictor {
 public:
  /// `poses`: at knots −1 … K, 7 numbers per body.
  Predictor(const MachinePoint& machine, std::shared_ptr<const maximal::Mechanism> mechanism, const Run& run,
            const std::vector<double>& poses, const PredictionOptions& options);
  ~Predictor();

  /// From the state at the first knot to the end: the simulation error.
  Replay replay();
  /// From the state at every `every`-th knot: readings that are `horizon` ahead, up to one step more. A horizon below
  /// one step is one step. `starts`: states to start from in place of those of the motion, as Problem::filtered() gives
  /// them.
  std::vector<ChannelError> ahead(double horizon, int every = 1, const std::vector<double>* starts = nullptr);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Channels of all sensors of a model, in turn: their places in MachinePoint::bias, Weights::noise, … .
struct ChannelPlace {
  int sensor = 0, row = 0;
};
std::vector<ChannelPlace> channel_places(const std::vector<Sensor>& sensors);

}  // namespace kinegraph::identify
