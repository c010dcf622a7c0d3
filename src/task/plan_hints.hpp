#pragma once

#include "kinegraph/base/result.hpp"
#include "kinegraph/build/plan.hpp"

namespace kinegraph::task {

/// Goals of joints that must be met but cannot be, which no search is needed to see: beyond the limits of these joints,
/// farther from the goal before than their speed allows in the time between, elsewhere than another goal at that time,
/// or (all joints given) too near to something.
std::optional<Failure> impossible_goals(const build::PlanSetting& setting);

/// What may be why there is no plan: a start beyond limits, motors that cannot hold the robot where it starts or ends.
std::vector<std::string> hints(const build::PlanProblem& problem);

/// The unit of a column of a plan's table: "elbow.q" rad, "cart.tau" N; empty if it is none of a joint.
std::string unit_of_column(const build::PlanSetting& setting, const std::string& column);

}  // namespace kinegraph::task
