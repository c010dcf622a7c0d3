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
  double left = 0;   ///< root mean square; with a loss that lets outliers be, as the median has it
  double noise = 0;  ///< that the sensor is said to have
  double since = 0;  ///< s: where it begins, in the first recording that has it
  double ratio() const { return left / noise; }
  bool doubtful() const { return ratio() > 3; }
  bool failed() const { return ratio() > 10; }
};

/// The channel that is furthest off beside the noise that its sensor is said to have. Nothing of channels of which
/// nobody said anything: sensors from `said` on, which stand for columns of recordings.
std::optional<Misfit> worst_misfit(const Fit& fit, const std::vector<Sensor>& sensors, int said,
                                   const IdentifyOptions& options);

/// What to say of it: which channel, by how much, since when, and whether readings in another unit would fit.
std::string misfit_text(const Misfit& misfit, const FitData& data, const std::vector<Trajectory>& recordings,
                        const Fit& fit, int said, const IdentifyOptions& options);

/// Times that are not in seconds: refused as estimate does.
Result<std::string> judge_rates(const FitData& data, const IdentifyOptions& options);

}  // namespace kinegraph::task
