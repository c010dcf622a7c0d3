#pragma once

#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::screw {

using Poses = std::vector<Transform<double>>;

/// X_WB of all bodies at q. `poses` must have as many elements as the tree has bodies.
void body_poses(const Tree& tree, const double* q, Poses& poses);
/// X_WL of a link, from the poses of the bodies.
Transform<double> link_pose(const Tree& tree, const Poses& poses, int link);
/// Twist of every body in its own frame, at rest on the ground.
void body_twists(const Tree& tree, const double* q, const double* v, std::vector<Vector6d>& twists);

/// ∂(twist of a body, in its frame) / ∂v: 6 × freedoms.
void body_jacobian(const Tree& tree, const double* q, const Poses& poses, int body, Eigen::MatrixXd& jacobian);

/// rad, m: loops that are open by less, where no motion closes them, are so by rounded numbers of the file
/// (rpy="1.5708 0 0"), and count as closed.
inline constexpr double kClosureDigits = 5e-5;

/// How far each loop is open: 6 numbers per loop, log(X_FM(q)⁻¹ · X_FM of the bodies), rotation first.
void closure(const Tree& tree, const double* q, const Poses& poses, double* residual);
/// Its Jacobian where the loops are (nearly) closed: row block ℓ is Ad(X_MB) J_b − Ad(X_MA) J_a − S. (6 loops) ×
/// freedoms. The closure velocity is this times v.
void closure_jacobian(const Tree& tree, const double* q, const Poses& poses, Eigen::MatrixXd& jacobian);

struct Energy {
  double kinetic = 0, potential = 0, spring = 0;
  double total() const { return kinetic + potential + spring; }
};
/// ½ Σ Vᵀ G V + ½ Σ armature v², −Σ m g · com, springs of the joints.
Energy energy(const Tree& tree, const double* q, const double* v);
/// The same where the poses and twists of the bodies are at hand; allocates nothing.
Energy energy(const Tree& tree, const double* q, const double* v, const Poses& poses,
              const std::vector<Vector6d>& twists);
/// Momentum of all bodies about the world's origin, (angular, linear), in the world's axes.
Vector6d momentum(const Tree& tree, const double* q, const double* v);
Vector6d momentum(const Tree& tree, const Poses& poses, const std::vector<Vector6d>& twists);

}  // namespace kinegraph::screw
