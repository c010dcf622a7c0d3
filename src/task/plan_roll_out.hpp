#pragma once

#include "kinegraph/task/plan.hpp"
#include "kinegraph/task/plan_roller.hpp"

namespace kinegraph::task {

/// What the torques of a plan really do: forward dynamics by elimination, integrated by a Runge-Kutta method of fourth
/// order with `divisions` steps per step of the plan, torques and contact forces between the knots as the collocation
/// means them (held, linear, quadratic). Where damping stops a joint faster than such a step can follow, it is taken in
/// parts. Dry friction is the model's own, not rounded off as in the plan: where there is some, the steps are those of
/// the implicit midpoint rule. Columns as those of the plan, but for the clearance. Ends early where it cannot go on.
Trajectory roll_out(const build::PlanProblem& problem, int divisions, PlanFriction friction = PlanFriction::own);

/// Every step of a plan from where the plan starts it, as in roll_out() but with friction as in the plan.
struct RolledSteps {
  Trajectory motion;                  ///< columns as those of the roll-out
  std::vector<Eigen::VectorXd> q, v;  ///< where each ends
  double miss = 0;                    ///< rad or m, by how much that is not where the plan has it; infinite: no end
};
RolledSteps roll_steps(const build::PlanProblem& problem, int divisions);

/// How far the end of a step is missed at most, if it starts where the plan does (rad, m): what an open loop lets grow.
double step_miss(const build::PlanProblem& problem, int divisions);

/// The motion that a plan means between its knots, at `divisions` samples per step: positions on the cubic through both
/// ends and their rates, rates on the cubic through theirs, torques and forces as in the roll-out.
Trajectory between_knots(const build::PlanProblem& problem, int divisions);

/// How far all goals are missed: in the plan, and in its roll-out (unless that is empty). Goals that are held
/// count where they are missed by most.
std::vector<GoalMiss> goal_misses(const build::PlanProblem& problem, const Trajectory& motion);

/// Rolls a plan out and tells its misses.
void tell_roll_out(const build::PlanProblem& problem, const PlanOptions& options, PlanResult& result);

/// The names of a plan's columns: q v a tau of all joints, forces of contacts.
std::vector<std::string> plan_columns(const build::PlanSetting& setting);

}  // namespace kinegraph::task
