#include "kinegraph/task/plan_hints.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"

namespace kinegraph::task {
namespace {

/// A joint's place among the limits of positions; −1 if it has none of its own.
int limited(const build::PlanSetting& setting, const std::string& joint) {
  const screw::Tree& tree = *setting.tree;
  const int c = tree.find_coordinate(joint);
  if (c < 0 || tree.coordinates()[c].freedoms != 1) return -1;
  return tree.coordinates()[c].v - (tree.freedoms() - setting.state.joints);
}

/// The limit that a position is beyond; its own value if it is within both.
double nearest_allowed(const build::PlanSetting& setting, int joint, double q) {
  constexpr double digits = 1e-9;
  if (q < setting.lower[joint] - digits) return setting.lower[joint];
  return q > setting.upper[joint] + digits ? setting.upper[joint] : q;
}

}  // namespace

std::optional<Failure> goals_beyond_limits(const build::PlanSetting& setting) {
  Failure failure{Failure::Kind::no_answer, {}};
  for (const TaskGoal& goal : setting.task.goals) {
    if (goal.sigma > 0 || goal.tolerance > 0 || goal.time <= 0) continue;
    for (const auto& [name, value] : goal.joints) {
      const int joint = limited(setting, name.text);
      if (joint < 0) continue;
      const double allowed = nearest_allowed(setting, joint, value);
      if (allowed == value) continue;
      failure.diagnostics.push_back(
          {Severity::error, name.where,
           fmt::format("cannot be met: {}: {}.q at t = {:.4g} s is {:.4g}, its limit {:.4g}: off by {:.4g}", goal.name,
                       name.text, goal.time, value, allowed, std::abs(value - allowed))});
    }
  }
  if (failure.diagnostics.empty()) return {};
  return failure;
}

std::vector<std::string> hints(const build::PlanProblem& problem) {
  const build::PlanSetting& setting = *problem.setting;
  const screw::Tree& tree = *setting.tree;
  std::vector<std::string> found;
  if (setting.state.floating) return found;
  for (const screw::Coordinate& c : tree.coordinates()) {
    const int joint = limited(setting, c.name);
    if (joint < 0) continue;
    const double q = setting.start_q[c.q], allowed = nearest_allowed(setting, joint, q);
    if (allowed != q) {
      found.push_back(fmt::format("the start has {}.q = {:.4g}, beyond its limit {:.4g}", c.name, q, allowed));
    }
  }
  for (const int knot : {0, setting.task.steps}) {
    const auto at =
        setting.loaded && knot >= setting.load_from && knot < setting.load_to ? setting.loaded : setting.tree;
    if (!screw::InverseDynamics::refusal(*at).empty()) return found;
    screw::InverseDynamics dynamics(at);
    const Eigen::VectorXd q = problem.sample(knot, false).q, still = Eigen::VectorXd::Zero(at->freedoms());
    Eigen::VectorXd tau(at->freedoms());
    dynamics.evaluate(q.data(), still.data(), still.data(), nullptr, {.tau = tau.data()});
    for (std::size_t m = 0; m < setting.motors.size(); ++m) {
      const double needed = std::abs(tau[setting.motors[m]]);
      if (!(needed > setting.effort[m])) continue;
      found.push_back(fmt::format("to stand still at t = {:.4g} s takes {:.4g} of {}, its limit is {:.4g}",
                                  problem.time(knot), needed, tree.torque_names()[setting.motors[m]],
                                  setting.effort[m]));
    }
  }
  return found;
}

}  // namespace kinegraph::task
