#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::task {

/// What a mechanism can do, from the rank of Φ_q near a pose.
struct Mobility {
  int coordinates = 0, constraints = 0, rank = 0, degrees_of_freedom = 0;
  std::vector<int> redundant;    ///< rows of Φ that follow from the others wherever the mechanism goes
  std::vector<int> independent;  ///< coordinates that full pivoting leaves free, the declared ones preferred
  bool singular_here = false;    ///< the rank is lower at this very pose: the mechanism may branch
};

/// A coordinate held at a value.
struct Held {
  int coordinate = 0;
  double value = 0;
};

/// A pose with Φ(q, t) = 0 near `guess`, some coordinates held. If there is none: no_answer, naming the constraint that
/// is left open most and by how much.
Result<Eigen::VectorXd> assemble(const natural::System& system, double t, const Eigen::VectorXd& guess,
                                 const std::vector<Held>& held);

Mobility mobility(const natural::System& system, double t, const Eigen::VectorXd& q);

/// A mechanism put together and ready to move.
struct Start {
  std::shared_ptr<const natural::System> system;
  Mobility mobility;
  Eigen::VectorXd q, v, a, lambda;
};

/// Assembles the model at t = 0 with its initial values, and solves for velocities and accelerations there.
Result<Start> make_start(const Model& model);

}  // namespace kinegraph::task
