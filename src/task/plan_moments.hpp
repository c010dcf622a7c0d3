#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinegraph/task/plan.hpp"

namespace kinegraph::task {

/// Goals that no position meets at their time in which joints are within their limits and what stands is in its place:
/// inverse kinematics of that moment alone, from the plan's guess, the start and many others.
std::optional<Failure> goals_out_of_reach(const build::PlanProblem& problem, const PlanOptions& options);

/// A motor that is too weak to hold a robot that stands.
struct WeakMotor {
  int motor = 0;      ///< PlanSetting::motors
  double needed = 0;  ///< N m, N
};

/// Motors beyond their limits as the robot stands still where the plan has it at a knot, by forces of its contacts that
/// ask least of them. Nothing where no forces hold it.
std::vector<WeakMotor> too_weak_to_stand(const build::PlanProblem& problem, int knot);

}  // namespace kinegraph::task
