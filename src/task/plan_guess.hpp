#pragma once

#include "kinegraph/task/plan.hpp"

namespace kinegraph::task {

/// Fills the values of a plan as its task says: interpolated between start and goals, through positions found by
/// inverse kinematics, or from an earlier plan.
Result<std::monostate> set_guess(build::PlanProblem& problem, const PlanOptions& options);

}  // namespace kinegraph::task
