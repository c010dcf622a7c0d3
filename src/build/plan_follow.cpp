#include <algorithm>

#include "kinegraph/build/plan_parts.hpp"
#include "kinegraph/factor/common/affine.hpp"
#include "kinegraph/factor/common/prior.hpp"

// A plan obeys a rule of collocation; its torques lead elsewhere by what the rule misses. Here is the problem of the
// motion next to it that goes where the torques lead, those being linearised about a motion (multiple shooting).

namespace kinegraph::build {
namespace {

/// By how much a motion may depart from the plan, beside each other: positions, rates; torques by their largest.
constexpr double kPosition = 0.1, kRate = 1, kLeastTorque = 1e-3;

Eigen::VectorXd torque_scale(const PlanProblem& plan) {
  Eigen::VectorXd largest = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(plan.setting->motors.size()));
  each_moment(*plan.setting, [&](int knot, bool middle) {
    largest = largest.cwiseMax(plan.values.vector(PlanKeys{knot, middle}.input()).cwiseAbs());
  });
  const double floor = largest.size() > 0 ? std::max(kLeastTorque * largest.maxCoeff(), 1e-9) : 1;
  return largest.cwiseMax(floor);
}

void stay_near(PlanProblem& problem, const PlanProblem& plan) {
  const PlanSetting& setting = *problem.setting;
  const auto near = [&](const Key& key, const Noise& noise) {
    const auto at = plan.values.at(key);
    problem.graph.add(std::make_shared<Prior>(std::vector<double>(at.begin(), at.end())), {key}, Role::cost, noise);
  };
  const Noise torque = setting.motors.empty() ? Noise() : Noise::diagonal(torque_scale(plan));
  each_moment(setting, [&](int knot, bool middle) {
    const PlanKeys at{knot, middle};
    if (!setting.motors.empty()) near(at.input(), torque);
    if (middle || knot == 0) return;
    near(at.position(), Noise::isotropic(kPosition));
    near(at.velocity(), Noise::isotropic(kRate));
  });
}

void add_shots(PlanProblem& problem, const std::vector<PlanShot>& shots) {
  const PlanSetting& setting = *problem.setting;
  const int n = setting.state.joints, motors = static_cast<int>(setting.motors.size());
  Labels labels = joint_labels(setting, setting.tree->position_names());
  const Labels rates = joint_labels(setting, setting.tree->velocity_names());
  labels.insert(labels.end(), rates.begin(), rates.end());
  for (int k = 0; k < setting.task.steps; ++k) {
    const PlanKeys a{k, false}, b{k + 1, false};
    std::vector<Key> keys = {a.position(), a.velocity()};
    std::vector<int> sizes = {n, n};
    if (motors > 0) {
      keys.push_back(a.input());
      if (setting.has_middles()) keys.push_back(PlanKeys{k, true}.input());
      keys.push_back(b.input());
      sizes.resize(keys.size(), motors);
    }
    keys.push_back(b.position());
    keys.push_back(b.velocity());
    problem.graph.add(
        std::make_shared<Affine>("motion", sizes, std::vector{n, n}, shots[k].by, shots[k].constant, labels),
        std::move(keys), Role::equality);
  }
}

}  // namespace

// Where nothing but smoothness ties the knots, the plan is not meant as a motion.
bool PlanSetting::can_follow() const {
  return contacts.empty() && !state.floating && state.joints > 0 && task.collocation != Collocation::none;
}

PlanProblem PlanProblem::follow(std::shared_ptr<const PlanSetting> setting, const PlanProblem& plan, Values now,
                                const std::vector<PlanShot>& shots) {
  PlanProblem problem{std::move(setting), {}, std::move(now)};
  const PlanSetting& s = *problem.setting;
  for (const PlanPhase& phase : s.phases) problem.graph.known().insert(phase.duration());
  for (int k = 0; k < s.knots(); ++k) problem.graph.known().insert(PlanKeys{k, false}.acceleration());
  problem.graph.known().insert(PlanKeys{0, false}.position());
  problem.graph.known().insert(PlanKeys{0, false}.velocity());
  add_shots(problem, shots);
  add_limits(problem);
  add_clearances(problem);
  stay_near(problem, plan);
  // what the nearer the better is as near as the plan has it
  const auto whole = problem.setting;
  PlanSetting hard = s;
  std::erase_if(hard.task.goals, [](const TaskGoal& goal) { return goal.sigma > 0; });
  std::erase_if(hard.task.paths, [](const TaskPath& path) { return path.sigma > 0; });
  problem.setting = std::make_shared<const PlanSetting>(std::move(hard));
  add_goals(problem, Noise::isotropic(1));
  add_paths(problem, Noise::isotropic(1));
  problem.setting = whole;
  return problem;
}

}  // namespace kinegraph::build
