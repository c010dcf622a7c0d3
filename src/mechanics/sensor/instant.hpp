#pragma once

#include <Eigen/Core>

namespace kinegraph::sensor {

/// A machine at one instant, and how it changes along some directions (columns): all that sensors see. q̇ directions are
/// those of v (the tangent), also for dq.
///
///     natural: q, v, a by System's coordinates; reaction: the multipliers λ; tau: the motors' torques u
///     screw:   q stored numbers, v, a, tau by freedom; reaction: the wrench through the joint of each body, then of
///     each
///              loop, 6 numbers each (on the child, in its frame; of a loop in its frame M)
///     maximal: q 7 numbers per body, then the joint positions of its Tree, near which angles are; v, a 6 numbers per
///              body; tau, reaction as screw
///
/// a, reaction and tau are good only if asked for.
struct Instant {
  double t = 0;
  Eigen::VectorXd q, v, a, reaction, tau;
  Eigen::MatrixXd dq, dv, da, dreaction, dtau;  ///< one column per direction
  int directions() const { return static_cast<int>(dq.cols()); }
};

}  // namespace kinegraph::sensor
