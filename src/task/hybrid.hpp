#pragma once

#include <string>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/task/spatial_inverse.hpp"

namespace kinegraph::task {

struct HybridOptions {
  double noise = 0;  ///< standard deviation of recorded positions
  bool reactions = false;
  std::string ordering;       ///< as screw_order() names them; empty: the best
  bool planar_loops = false;  ///< see build::screw_problem()
  Progress progress;
};

struct HybridResult {
  Trajectory trajectory;
  SpatialDynamicsSummary summary;
  int masks = 0;  ///< different sets of known numbers
};

/// Torques where accelerations are known, and accelerations where torques are: joint by joint and sample by sample.
///
/// `known`: positions and velocities by joint name (as for spatial_inverse()), and for every joint "j.a" or "j.tau";
/// NaN is "not given". Nothing given: a joint that is marked passive and a floating base carry no torque, and neither
/// does a joint of a loop whose columns are absent if no joint is marked; others are refused. Both given: refused, but
/// in loops, where another joint may in turn have neither.
Result<HybridResult> hybrid(const Model& model, const Trajectory& known, const HybridOptions& options);

/// Columns of a table for hybrid() in which a field may be empty: accelerations and torques ("j.a", "j.mx").
bool may_be_unknown(const std::string& column);

}  // namespace kinegraph::task
