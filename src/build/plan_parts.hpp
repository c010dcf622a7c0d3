#pragma once

// The parts of which PlanProblem::make is made; nobody else's business.

#include "kinegraph/build/plan.hpp"
#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph::build {

/// Calls f(knot, middle) for every knot and, where the collocation has them, every middle, in the order of time.
template <class F>
void each_moment(const PlanSetting& setting, F&& f) {
  for (int k = 0; k < setting.knots(); ++k) {
    f(k, false);
    if (setting.has_middles() && k < setting.task.steps) f(k, true);
  }
}

/// The names of the joints among names of all freedoms (or of all numbers of q).
Labels joint_labels(const PlanSetting& setting, const std::vector<std::string>& names);

void add_goals(PlanProblem& problem, const Noise& noise);
void add_limits(PlanProblem& problem);
void add_objectives(PlanProblem& problem);
void add_contacts(PlanProblem& problem, const Noise& noise);
void add_clearances(PlanProblem& problem);

}  // namespace kinegraph::build
