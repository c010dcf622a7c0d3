#pragma once

#include <Eigen/Core>

#include "kinegraph/task/identify_fit.hpp"

namespace kinegraph::task {

/// Directions of the parameters (orthonormal columns) that change no equation of motion: whatever the machine does, no
/// recording of its motion can tell them. The steps of a simulation are near the motion, not on it, and the error that
/// is left can depend on such a direction: a recording would seem to tell what none can.
///
/// Only what is certain: parameters that move a joint or a sensor, or act otherwise than through the joints (springs
/// between links, gains) are left out, and nothing is said of machines whose readings or friction depend on the forces
/// through their joints.
Eigen::MatrixXd unseen_directions(const Fit& fit);

/// Takes what a report says of some directions back.
void forget(const Eigen::MatrixXd& directions, identify::SolverReport& report);

}  // namespace kinegraph::task
