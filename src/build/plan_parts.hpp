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

/// A factor on q v a and more, for a knot or for a middle.
std::shared_ptr<const Factor> at_moment(const PlanSetting& setting, bool middle, std::shared_ptr<const Factor> factor);

/// The names of the joints among names of all freedoms (or of all numbers of q).
Labels joint_labels(const PlanSetting& setting, const std::vector<std::string>& names);

/// Of a robot that floats and stands on contacts: q at all knots but the first, base and legs (plan_gait_guess.cpp).
void follow_steps(const PlanSetting& setting, std::vector<Eigen::VectorXd>& q);

void add_goals(PlanProblem& problem, const Noise& noise);
void add_paths(PlanProblem& problem, const Noise& noise);
void add_limits(PlanProblem& problem);
void add_objectives(PlanProblem& problem);
void add_contacts(PlanProblem& problem, const Noise& noise);
void add_clearances(PlanProblem& problem);

}  // namespace kinegraph::build
