#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinegraph/task/identify_fit.hpp"

namespace kinegraph::task {

/// A channel of whose readings more is left than noise.
struct Misfit {
  int channel = 0;  ///< of all sensors in turn
  int sensor = 0;
  std::string name, unit;
  double left = 0;    ///< root mean square; with a loss that lets outliers be, as the median has it
  double noise = 0;   ///< that the sensor is said to have
  double varies = 0;  ///< root mean square of the readings about their mean; of angles as far as they are within a turn
  bool replay = false;
  double since = 0;  ///< s: where it begins, in the first recording that has it
  double ratio() const { return left / noise; }
  bool doubtful() const { return ratio() > 3; }
  /// In a replay what the model misses adds up: it also has to be a tenth of how the readings vary.
  bool failed() const { return ratio() > 10 && (!replay || left > 0.1 * varies); }
};

/// The channel that is furthest off beside the noise that its sensor is said to have. Nothing of channels of which
/// nobody said anything: sensors from `said` on, which stand for columns of recordings.
std::optional<Misfit> worst_misfit(const Fit& fit, const std::vector<Sensor>& sensors, int said,
                                   const IdentifyOptions& options);

/// What to say of it: which channel, by how much, since when, and whether readings in another unit, or of the other
/// sign, would fit.
std::string misfit_text(const Misfit& misfit, const FitData& data, const std::vector<Trajectory>& recordings,
                        const Fit& fit, int said, const IdentifyOptions& options);

/// Where the motion that the readings show is not the model's, whatever its parameters; else nothing. `natural`,
/// `found`: κ that suits the machine, and of the fit, as Weights have it.
std::optional<std::string> wrong_motion_text(const Misfit& misfit, double natural, double found, const FitData& data,
                                             const std::vector<Trajectory>& recordings, const Fit& fit, int said,
                                             const IdentifyOptions& options);

/// Times that are not in seconds: refused as estimate does.
Result<std::string> judge_rates(const FitData& data, const IdentifyOptions& options);

}  // namespace kinegraph::task
