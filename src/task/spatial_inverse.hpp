#pragma once

#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/task/spatial_record.hpp"

namespace kinegraph::task {

struct SpatialInverseOptions {
  std::vector<std::string> actuators;  ///< joints that have a motor; default: see spatial_inverse()
  double noise = 0;                    ///< standard deviation of recorded positions
  bool reactions = false;
  std::string ordering;       ///< as screw_order() names them; empty: the best
  bool planar_loops = false;  ///< see build::screw_problem()
  Progress progress;
  bool compiled = false;  ///< by generated code, where that can be
};

struct SpatialDynamicsResult {
  Trajectory trajectory;
  SpatialDynamicsSummary summary;
};

/// The torques that make a robot follow a motion.
///
/// `motion`: columns by joint name ("shoulder.q", and "shoulder.v", "shoulder.a" where it has them), loads on links
/// ("hand.load.fx"), the motion of a fixed base ("base.wz"). Outside of loops every joint must be there; in loops as
/// many as leave nothing free. Joints without a motor carry no torque and their acceleration is an answer; a floating
/// base is led by its motion, and the wrench that this takes is told.
///
/// Motors: joints not marked passive. In loops without any such mark: those whose motion leads the others. More motors
/// than freedoms share the work with the least sum of squared torques.
Result<SpatialDynamicsResult> spatial_inverse(const Model& model, const Trajectory& motion,
                                              const SpatialInverseOptions& options);

}  // namespace kinegraph::task
