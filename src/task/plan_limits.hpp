#pragma once

#include <memory>
#include <vector>

#include "kinegraph/task/plan.hpp"

namespace kinegraph::task {

/// An excess below this is rounding.
constexpr double kLimitTolerance = 1e-7;

/// Limits of position, speed and torque that a motion leaves, worst first.
std::vector<LimitCheck> exceeded_limits(const build::PlanSetting& setting, const Trajectory& motion, double first_step);

/// What a motion, at more moments than the knots, leaves of limits and clearance. `asked`: with those of the task, not
/// with ones that were drawn in.
void tell_limits(const build::PlanProblem& problem, const build::PlanSetting& asked, const Trajectory& motion,
                 PlanSummary& summary);

/// `now` with limits and margins tighter by what the motion exceeds those asked for; null: there is no need.
std::shared_ptr<const build::PlanSetting> drawn_in(const build::PlanSetting& now, const build::PlanSetting& asked,
                                                   const PlanSummary& summary);

}  // namespace kinegraph::task
