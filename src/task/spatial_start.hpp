#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::task {

/// Numbers of v (freedoms) that keep their place while loops are closed.
struct HeldFreedom {
  int freedom = 0;
};

/// A position with all loops closed near `guess`, some freedoms held; and velocities that keep them closed near
/// `guess`. No answer: which loop stays open and by how much.
Result<Eigen::VectorXd> close_loops(const screw::Tree& tree, const Eigen::VectorXd& guess,
                                    const std::vector<HeldFreedom>& held);
Result<Eigen::VectorXd> close_velocities(const screw::Tree& tree, const Eigen::VectorXd& q,
                                         const Eigen::VectorXd& guess, const std::vector<HeldFreedom>& held);

/// Brings some freedoms to where they are in `target`, in stages small enough that the loops keep their branch; the
/// rest follows by least change. q must be closed. No answer: how far they came.
Result<Eigen::VectorXd> move_freedoms(const screw::Tree& tree, const Eigen::VectorXd& q, const Eigen::VectorXd& target,
                                      const std::vector<int>& freedoms);

/// Freedoms that may be chosen at a closed position, as many as the mechanism has there: of `first` as many as can be,
/// then motors, other joints of the tree, joints that close loops.
std::vector<int> independent_freedoms(const screw::Tree& tree, const Eigen::VectorXd& q, const std::vector<int>& first);

struct SpatialMobility {
  int freedoms = 0;           ///< of the mechanism
  int rank = 0;               ///< of the closure equations, at generic positions
  int closure_equations = 0;  ///< 6 − freedoms of each closing joint, summed
  int rank_here = 0;
  std::vector<int> independent;        ///< numbers of v that may be chosen (as many as freedoms; tree joints first)
  std::vector<std::string> redundant;  ///< "loop j5: 3 of 5 equations"
};
SpatialMobility spatial_mobility(const screw::Tree& tree, const Eigen::VectorXd& q);

/// The tree of a model (a planar one too), its loops closed, ready to move. With PlanarForces::kept joints that are
/// driven start where their laws say.
struct SpatialStart {
  std::shared_ptr<const screw::Tree> tree;
  SpatialMobility mobility;
  Eigen::VectorXd q, v;
  double moved = 0;  ///< m: how far points of a planar drawing had to go to assemble it
};
Result<SpatialStart> make_spatial_start(const Model& model, PlanarForces forces = PlanarForces::refused);

}  // namespace kinegraph::task
