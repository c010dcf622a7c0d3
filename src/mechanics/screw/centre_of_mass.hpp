#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::screw {

/// Where the mass of a robot is, and how that changes with q. Allocates when it is made, never after.
///
///     c = Σ mᵢ cᵢ / m,      ∂c/∂qⱼ = Σ over bodies beyond j of mᵢ (v_J + ω_J × cᵢ) / m
class CentreOfMass {
 public:
  explicit CentreOfMass(std::shared_ptr<const Tree> tree);

  /// The derivative, unless null: 3 × freedoms, column-major, along the tangent of q.
  Eigen::Vector3d at(const double* q, double* by_q);

 private:
  std::shared_ptr<const Tree> tree_;
  Poses poses_;
  std::vector<double> mass_;             // of all beyond the joint of a body
  std::vector<Eigen::Vector3d> moment_;  // Σ m c of all beyond
};

}  // namespace kinegraph::screw
