#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/build/instant.hpp"

namespace kinegraph::task {

using build::Held;
using build::Mobility;

/// A pose with Φ(q, t) = 0 near `guess`, some coordinates held; these are brought to their values in small stages, so
/// that the mechanism keeps its branch. If there is none: no_answer, naming the constraint that is left open most and
/// by how much.
Result<Eigen::VectorXd> assemble(std::shared_ptr<const natural::System> system, double t, const Eigen::VectorXd& guess,
                                 const std::vector<Held>& held);

/// The mechanism as drawn, put together at t = 0. Bars that are drawn in one line do not know to which side to give
/// way: where the way from there leads to no pose, points are moved aside, a hundredth of the machine's length, then a
/// tenth.
Result<Eigen::VectorXd> assemble_drawing(std::shared_ptr<const natural::System> system, const std::vector<Held>& held);

/// A mechanism put together and ready to move.
struct Start {
  std::shared_ptr<const natural::System> system;
  Mobility mobility;
  Eigen::VectorXd q, v, a, lambda;
};

/// Assembles the model at t = 0 with its initial values, and solves for velocities and accelerations there.
Result<Start> make_start(const Model& model);

}  // namespace kinegraph::task
