#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinegraph/task/kinematics.hpp"
#include "kinegraph/task/reach.hpp"

namespace kinegraph::task {

struct SpatialKinematicsOptions {
  std::optional<Move> move;         ///< "crank.q", 0 to 2π
  std::vector<FrameGoal> goals;     ///< at once: one row
  std::optional<Trajectory> table;  ///< goals one after the other: hand.x hand.y hand.z [hand.qw .qx .qy .qz]
  bool branches = false;
  int starts = 0;  ///< tries of searches; 0: enough
  unsigned long seed = 0;
  Progress progress;
};

struct SpatialKinematicsResult {
  /// One row per pose: the joints' q, then x y z qw qx qy qz of every link. t is that of a table of goals, else a
  /// count.
  Trajectory trajectory;
  int freedoms = 0, loops = 0;
  std::vector<std::string> independent;      ///< joints that may be chosen, or are held
  double closure_max = 0;                    ///< m or rad
  std::vector<std::string> limits_exceeded;  ///< "elbow.q: in 3 of 361 poses, by 0.2 at most"
  // Goals.
  int goals = 0, solved = 0, iterations = 0, starts = 0;
  double distance_max = 0, angle_max = 0;  ///< m, rad: left to the goals
  std::vector<std::string> at_limits;      ///< joints that a limit holds, in any row
  std::string missed;                      ///< the first goal that was not reached, and why; empty if none
  int beyond_limits = 0;                   ///< branches found but left out: a joint would be beyond its limits
};

/// A pose of a spatial model, a joint moved, frames brought to goals, or all assembly branches.
Result<SpatialKinematicsResult> spatial_kinematics(const Model& model, const SpatialKinematicsOptions& options);

}  // namespace kinegraph::task
