#include <algorithm>
#include <string>
#include <utility>

#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/factor/common/stretched.hpp"
#include "kinegraph/factor/goal/bounds.hpp"

// Phases of unknown duration: all steps of one are equally long, T / count. Variables are in real time; factors over a
// step see T (StepFactors, AtMiddle), so that whatever is asked for at a knot stays as it is.

namespace kinegraph::build {
namespace {

/// The sum of all durations, known and unknown.     e = T₁ + T₂ + … + known      Slots: T₁ T₂ …
class TotalTime final : public Factor {
 public:
  TotalTime(int phases, double known)
      : Factor("time", 1, std::vector<int>(phases, 1), dense(1, std::vector<int>(phases, 1))), known_(known) {}
  void evaluate(Slots x, double* residual, double* jacobian) const override {
    residual[0] = known_;
    for (const double* duration : x) residual[0] += *duration;
    if (jacobian) std::fill_n(jacobian, x.size(), 1.0);
  }
  bool constant_jacobian() const override { return true; }

 private:
  double known_;
};

double known_time(const PlanSetting& setting) {
  double known = setting.task.horizon;
  for (const PlanPhase& phase : setting.phases) known -= phase.nominal;
  return std::max(0.0, known);
}

}  // namespace

const PlanPhase* PlanSetting::phase_of(int step) const {
  const auto found =
      std::find_if(phases.begin(), phases.end(), [&](const PlanPhase& p) { return step >= p.first && step < p.last; });
  return found == phases.end() ? nullptr : &*found;
}

void add_duration(const PlanSetting& setting, int knot, bool middle, std::vector<Key>& keys) {
  if (!middle) return;
  if (const PlanPhase* phase = setting.phase_of(knot)) keys.push_back(phase->duration());
}

void StepFactors::add(PlanProblem& problem, int knot, std::vector<Key> keys, Role role, const Noise& noise) {
  const PlanPhase* phase = problem.setting->phase_of(knot);
  if (!phase) {
    problem.graph.add(factor_, std::move(keys), role, noise);
    return;
  }
  if (phase != phase_) stretched_ = std::make_shared<Stretched>(factor_, powers_, phase->nominal);
  phase_ = phase;
  keys.push_back(phase->duration());
  problem.graph.add(stretched_, std::move(keys), role, noise);
}

void add_durations(PlanProblem& problem) {
  const PlanSetting& setting = *problem.setting;
  std::vector<Key> all;
  for (const PlanPhase& phase : setting.phases) {
    const std::string label = "duration of the phase up to " + std::to_string(phase.last) + " of " +
                              std::to_string(setting.task.steps) + " steps";
    const auto bounds =
        std::make_shared<Bounds>("limit", std::vector{phase.least}, std::vector{phase.most}, Labels{label});
    problem.graph.add(bounds, {phase.duration()}, Role::inequality);
    all.push_back(phase.duration());
  }
  for (const TaskObjective& objective : setting.task.objectives) {
    if (objective.type != TaskObjective::Type::time || all.empty()) continue;
    problem.graph.add(std::make_shared<TotalTime>(static_cast<int>(all.size()), known_time(setting)), all, Role::cost,
                      Noise::isotropic(objective.sigma));
  }
}

double PlanProblem::step(int knot) const {
  const PlanPhase* phase = setting->phase_of(knot);
  return phase ? values.vector(phase->duration())[0] / (phase->last - phase->first) : setting->task.step();
}

double PlanProblem::time(int knot) const {
  double t = setting->time(knot);
  for (const PlanPhase& phase : setting->phases) {
    const int done = std::clamp(knot - phase.first, 0, phase.last - phase.first);
    t += done * (step(phase.first) - setting->task.step());
  }
  return t;
}

int PlanProblem::step_at(double t) const {
  int low = 0, high = setting->task.steps;
  while (high - low > 1) {
    const int half = (low + high) / 2;
    (time(half) <= t + 1e-9 ? low : high) = half;
  }
  return low;
}

}  // namespace kinegraph::build
