#pragma once

#include "kinegraph/build/plan.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

/// What the torques of a plan with contacts do where the ground, not the plan, says which forces there are: by the
/// stepper with contacts and dry friction (formulation maximal). Nothing is known of where the base is.
struct GroundRollOut {
  Trajectory motion;       ///< of the joints and the base
  double until = 0;        ///< s; before what was asked for: there was no motion any more
  double tilt = 0;         ///< rad, the largest between the base's vertical and where the plan has it
  double base_miss = 0;    ///< m, the largest distance of the base from where the plan has it
  double lowest = 0;       ///< m: the least height of the base over the plan's, as a share of the plan's
  double upright_for = 0;  ///< s: how long the base leaned by less than 0.5 rad and was at least half as high
};

/// Motors that hold their joints where the plan has them, as those of real robots do:
///
///     τ = τ_plan + k (q_plan − q) + d (q̇_plan − q̇)        k = d = 0: the torques of the plan alone, open loop
struct JointServo {
  double stiffness = 0, damping = 0;  ///< k, N m/rad; d, N m s/rad
};

/// Feet are points: balls of a millimetre at the task's contacts, each with its friction, on one level. A payload is
/// carried all the time or never. `step`: s.
Result<GroundRollOut> roll_out_on_ground(const build::PlanProblem& problem, double time, double step = 5e-4,
                                         const JointServo& servo = {});

}  // namespace kinegraph::task
