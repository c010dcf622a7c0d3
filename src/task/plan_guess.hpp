#pragma once

#include "kinegraph/task/plan.hpp"

namespace kinegraph::task {

/// Fills the values of a plan as its task says: interpolated between start and goals, through positions found by
/// inverse kinematics, or from an earlier plan.
Result<std::monostate> set_guess(build::PlanProblem& problem, const PlanOptions& options);

/// Positions at all knots, through those that inverse kinematics finds for the goals of frames, the first of them from
/// `from`; empty: there are no such goals.
std::vector<Eigen::VectorXd> by_kinematics(const build::PlanSetting& setting, const PlanOptions& options,
                                           const Eigen::VectorXd& from);

}  // namespace kinegraph::task
