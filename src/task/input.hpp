#pragma once

#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

/// The model driven by a recording: its columns replace the laws of motors (`motor.tau`, or `motor.u`, of which a
/// torque is gain times), torques (`torque.tau`) and loads (`load.fx`, `load.fy`), straight lines between samples.
/// Refused: columns that drive nothing, both columns of one motor, a recording that ends before `time`.
Result<Model> with_input(const Model& model, const Trajectory& input, double time);

}  // namespace kinegraph::task
