#pragma once

#include <optional>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/step/regularized_step.hpp"
#include "kinegraph/task/mean_law.hpp"

namespace kinegraph::task {

/// The robot of a model for the maximal formulation (robot_of with PlanarForces::kept) with the loads on links that a
/// recording gives. Refused: columns that mean nothing or drive nothing, a recording that ends before `time`.
Result<Robot> driven_robot(const Model& model, const std::optional<Trajectory>& input, double time);

/// What drives a machine in maximal coordinates: torques and controls of joints, forces and torques on links, joints
/// that follow a law; by the model, and by a recording in place of it.
class MaximalDrive {
 public:
  /// Of a mechanism of driven_robot().
  MaximalDrive(const maximal::Mechanism& mechanism, const std::optional<Trajectory>& input);

  /// Means over the step that begins at t, and where driven joints are at its end.
  void fill(double t, double h, step::StepInput& input) const;
  /// Torque along a number of v of the tree at t, gain times control included.
  double torque(int velocity, double t) const;
  /// Of a motor of the model (Robot::torques) at t.
  double motor(int motor, double t) const { return motors_[motor](t); }
  /// Numbers of v of the tree that are driven.
  const std::vector<int>& driven() const { return driven_; }

 private:
  struct Torque {
    int freedom = -1, velocity = -1;  ///< of the mechanism, of the tree
    MeanLaw law;
  };
  struct Load {
    std::vector<MeanLaw> wrench;  ///< force, then torque, in world axes
  };
  struct Drive {
    int freedom = -1;
    Law law;
  };
  std::vector<Torque> torques_;
  std::vector<MeanLaw> motors_;
  std::vector<Load> loads_;
  std::vector<Drive> drives_;
  std::vector<int> driven_;
};

}  // namespace kinegraph::task
