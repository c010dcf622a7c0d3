#pragma once

#include <Eigen/Core>
#include <span>
#include <string>

#include "kinegraph/model/robot.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

/// The columns of a joint in a table (−1: not there).
struct JointSeries {
  std::string name;
  JointType type = JointType::revolute;
  std::span<const int> q, v, a;
};

/// The motion of one joint: a column per sample.
struct JointSamples {
  Eigen::MatrixXd q, v, a;
  double smoothing_max = 0;  ///< largest distance of q from the table's
};

/// What the table gives as it is. Rates that it does not give are those of the smoothest curve through the samples
/// (differentiate.hpp), which needs equal steps and more than one sample. Quaternions are differentiated as curves in
/// four dimensions:
///
///     ω = 2 vec(q* q̇) / |q|²,   ω̇ = 2 vec(q* q̈) / |q|² − ω d(|q|²)/dt / |q|²
///
/// and the twist of a floating joint is v = Rᵀ ṗ, v̇ = Rᵀ p̈ − ω × v. Without `accelerations` a is zero. `noise` is the
/// standard deviation of recorded positions.
Result<JointSamples> read_joint_samples(const Trajectory& table, const JointSeries& series, bool accelerations,
                                        double noise);

}  // namespace kinegraph::task
