#pragma once

#include "kinegraph/mechanics/maximal/mechanism.hpp"

namespace kinegraph::maximal {

/// From joint coordinates of the mechanism's Tree to poses of bodies, and back. `numbers`: the mechanism's, because a
/// body's pose is told by its centre of mass.

/// Poses (7 per body) of joint positions q_tree (Tree::stored() numbers; loops as the tree leaves them).
void poses_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q_tree, double* q);
/// Velocities (6 per body) of joint rates v_tree at q_tree.
void velocities_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q_tree,
                   const double* v_tree, double* v);
/// Joint positions, of loops too; angles are those nearest to what `q_tree` holds on entry.
void coordinates_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q, double* q_tree);
/// Joint rates at q.
void rates_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q, const double* v,
              double* v_tree);
/// The world pose of every link's frame.
void link_poses(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q, SE3* X_WL);
/// Kinetic energy and that of gravity and springs. `q_tree`: joint positions, near which angles of joints with springs
/// are; null: near where the springs rest.
struct Energy {
  double kinetic = 0, potential = 0;
};
Energy energy_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q, const double* v,
                 const double* q_tree = nullptr);

}  // namespace kinegraph::maximal
