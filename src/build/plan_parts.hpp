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

/// A factor on q v a and more, for a knot or for the middle of a step; of one of unknown length the phase's duration is
/// its last slot.
std::shared_ptr<const Factor> at_moment(const PlanSetting& setting, int knot, bool middle,
                                        std::shared_ptr<const Factor> factor);
void add_duration(const PlanSetting& setting, int knot, bool middle, std::vector<Key>& keys);  ///< that slot's, if any

/// Adds a factor over a step with slots x₀ v₀ (a₀) x₁ v₁ (a₁), of which rates count as their powers say.
class StepFactors {
 public:
  StepFactors(std::shared_ptr<const Factor> factor, std::vector<int> powers)
      : factor_(std::move(factor)), powers_(std::move(powers)) {}
  void add(PlanProblem& problem, int knot, std::vector<Key> keys, Role role, const Noise& noise);

 private:
  std::shared_ptr<const Factor> factor_, stretched_;
  std::vector<int> powers_;
  const PlanPhase* phase_ = nullptr;  // of stretched_
};

/// The names of the joints among names of all freedoms (or of all numbers of q).
Labels joint_labels(const PlanSetting& setting, const std::vector<std::string>& names);

/// Of a robot that floats and stands on contacts: q at all knots but the first, base and legs (plan_gait_guess.cpp).
void follow_steps(const PlanSetting& setting, std::vector<Eigen::VectorXd>& q);

/// Contacts that stand at the start, but not on their ground or not still: nothing may push on air.
void find_loose_contacts(const PlanSetting& setting, std::vector<Diagnostic>& faults);

void add_goals(PlanProblem& problem, const Noise& noise);
void add_paths(PlanProblem& problem, const Noise& noise);
void add_limits(PlanProblem& problem);
void add_objectives(PlanProblem& problem);
void add_durations(PlanProblem& problem);
void add_contacts(PlanProblem& problem, const Noise& noise);
void add_clearances(PlanProblem& problem);

}  // namespace kinegraph::build
