#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/state_hessian.hpp"

namespace kinegraph::screw {

/// Where the mass of a robot is, and how that changes with q. Allocates when it is made, never after.
///
///     c = Σ mᵢ cᵢ / m,      ∂c/∂qⱼ = Σ over bodies beyond j of mᵢ (v_J + ω_J × cᵢ) / m
class CentreOfMass {
 public:
  explicit CentreOfMass(std::shared_ptr<const Tree> tree);

  /// The derivative, unless null: 3 × freedoms, column-major, along the tangent of q.
  Eigen::Vector3d at(const double* q, double* by_q);

  /// Adds the second derivatives of w · c. Along a joint k beyond j (or of the same joint) ∂²c/∂qⱼ∂qₖ = ω_Jⱼ × ∂c/∂qₖ.
  void add_curvature(const double* q, const Eigen::Vector3d& weight, StateHessian& to);

 private:
  std::shared_ptr<const Tree> tree_;
  Poses poses_;
  std::vector<double> mass_;             // of all beyond the joint of a body
  std::vector<Eigen::Vector3d> moment_;  // Σ m c of all beyond
  struct Column {
    int row = 0;
    Eigen::Vector3d turn, change;  // w × ω;  m ∂c/∂q of what is beyond
  };
  std::vector<Column> columns_;  // body by body
  std::vector<int> first_;       // per body: its first column
};

}  // namespace kinegraph::screw
