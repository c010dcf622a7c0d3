#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kinegraph/mechanics/maximal/mechanism.hpp"
#include "kinegraph/task/maximal_drive.hpp"
#include "kinegraph/task/simulate.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task {

/// A model in maximal coordinates, put together and ready to move.
struct MaximalStart {
  std::shared_ptr<const maximal::Mechanism> mechanism;
  MaximalDrive drive;
  SpatialMobility mobility;
  Eigen::VectorXd q_tree, v_tree;  ///< of the mechanism's tree
  double moved = 0;                ///< as SpatialStart has it
};
Result<MaximalStart> make_maximal_start(const Model& model, const SimulateOptions& options);

/// A step of a motion: bodies at q (7 numbers each) at time t, moving with `before` until then and with `after` until
/// t + h (6 numbers each); joints' torques and the wrenches through them as sensor::Instant has them.
struct MaximalStep {
  double t = 0, h = 0;
  bool last = false;  ///< the motion ends at t
  const double *q = nullptr, *before = nullptr, *after = nullptr;
  const Eigen::VectorXd *q_tree = nullptr, *tau = nullptr, *reaction = nullptr;
};

/// simulate() with formulation `maximal`: bodies that move on their own, held by constraints that give way a little
/// (002); dry friction holds, and links may touch. `watch` is told every step.
Result<SimulateResult> simulate_maximal(const Model& model, const SimulateOptions& options,
                                        const std::function<void(const MaximalStep&)>& watch = {});

/// Why a model needs the maximal formulation: "because of friction in joint 'A'"; empty: it does not.
std::string needs_maximal(const Model& model);

}  // namespace kinegraph::task
