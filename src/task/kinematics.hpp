#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

/// Move one coordinate from a value to another: "crank.q=0:360deg".
struct Move {
  std::string coordinate;
  double from = 0, to = 0;
  int samples = 361;
};

struct KinematicsOptions {
  std::optional<Move> move;
  bool branches = false;
  int starts = 0;  ///< tries of the branch search; 0: chosen from the size of the mechanism
  unsigned long seed = 0;
  Progress progress;
};

struct KinematicsResult {
  Trajectory trajectory;  ///< one row for an assembly, one per sample of a move, one per branch
  int degrees_of_freedom = 0;
  double constraint_max = 0;
  std::vector<std::string> independent;  ///< names of the coordinates held while assembling
};

Result<KinematicsResult> kinematics(const Model& model, const KinematicsOptions& options);

}  // namespace kinegraph::task
