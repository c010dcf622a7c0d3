#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "kinegraph/graph/graph.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::build {

/// A coordinate held at a value.
struct Held {
  int coordinate = 0;
  double value = 0;
};

/// The graph of a mechanism at one instant, with its values: what is held is known, and a prior draws the unknown
/// toward a guess.
struct Instant {
  std::shared_ptr<const natural::System> system;
  Graph graph;
  Values values;

  Eigen::VectorXd position() const;
  Eigen::VectorXd velocity() const;
};

/// The position problem: Φ(q, t) = 0, q near `guess`, some coordinates held. With `open`, for mechanisms that do not
/// close: the pose that leaves Φ open least (least squares).
Instant position_problem(std::shared_ptr<const natural::System> system, double t, const Eigen::VectorXd& guess,
                         const std::vector<Held>& held, bool open = false);

/// The velocity problem: Φ̇ = 0 at a pose, q̇ near `wish`, some rates held. Where the mechanism may branch (`singular`)
/// they must also leave accelerations possible: Φ̈ = 0 decides between the branches.
Instant velocity_problem(std::shared_ptr<const natural::System> system, double t, const Eigen::VectorXd& q,
                         const Eigen::VectorXd& wish, const std::vector<Held>& held, bool singular);

/// What a mechanism can do, from the rank of Φ_q near a pose.
struct Mobility {
  int coordinates = 0, constraints = 0, rank = 0, degrees_of_freedom = 0;
  std::vector<int> redundant;    ///< rows of Φ that follow from the others wherever the mechanism goes
  std::vector<int> independent;  ///< coordinates that full pivoting leaves free, the declared ones preferred
  bool singular_here = false;    ///< the rank is lower at the first pose: the mechanism may branch there
};

/// From several poses, the first being the one asked about: a redundancy that holds at all of them is one of the
/// geometry.
Mobility mobility(const natural::System& system, double t, const std::vector<Eigen::VectorXd>& poses,
                  int relative_coordinates);

}  // namespace kinegraph::build
