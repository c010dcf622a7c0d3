#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::experiments {

/// An arm whose joints swing, each with a rate of its own, by recorded torques and disturbed by what the model says;
/// with encoders, of whose readings some are wrong, and an IMU on its tool.
class SwingingArm {
 public:
  static constexpr double kStep = 2.5e-3, kOutlier = 0.2;  ///< s, rad

  /// A model without sensors of its own gets encoders on all joints of one freedom, an IMU with offsets on the last
  /// link, and disturbances: in a sidecar that is written to `folder`. Throws where the model cannot be read.
  SwingingArm(const std::filesystem::path& model, double time, const std::filesystem::path& folder);

  const Model& model() const { return clean_; }
  double time() const { return time_; }

  struct Verdict {
    double rmse = 0;  ///< over all joint angles and times, rad
    int iterations = 0;
    double wall_s = 0;
    std::vector<std::string> warnings;
  };
  /// What the batch smoother makes of a log with that share of wrong readings. The rest of the log stays the same.
  Verdict judge(double outliers, const std::string& loss, int threads = 2, unsigned long seed = 0) const {
    return judge("batch", outliers, loss, threads, seed);
  }
  Verdict judge(const std::string& filter, double outliers, const std::string& loss, int threads,
                unsigned long seed = 0) const;

 private:
  double time_;
  Model clean_;
  Trajectory torques_;
};

}  // namespace kinegraph::experiments
