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

std::string unit_of_column(const build::PlanSetting& setting, const std::string& column) {
  const std::size_t dot = column.rfind('.');
  if (dot == std::string::npos) return "";
  const int c = setting.tree->find_coordinate(column.substr(0, dot));
  if (c < 0 || setting.tree->coordinates()[c].freedoms != 1) return "";
  const bool slides = setting.tree->coordinates()[c].type == JointType::prismatic;
  const std::string what = column.substr(dot + 1);
  if (what == "q") return slides ? "m" : "rad";
  if (what == "v") return slides ? "m/s" : "rad/s";
  if (what == "a") return slides ? "m/s²" : "rad/s²";
  return what == "tau" ? slides ? "N" : "N m" : "";
}

std::optional<Failure> goals_beyond_limits(const build::PlanSetting& setting) {
  Failure failure{Failure::Kind::no_answer, {}};
  for (const TaskGoal& goal : setting.task.goals) {
    if (goal.sigma > 0 || goal.tolerance > 0 || goal.time <= 0) continue;
    for (const auto& [name, value] : goal.joints) {
      const int joint = limited(setting, name.text);
      if (joint < 0) continue;
      const double allowed = nearest_allowed(setting, joint, value);
      if (allowed == value) continue;
      const std::string unit = unit_of_column(setting, name.text + ".q");
      failure.diagnostics.push_back(
          {Severity::error, name.where,
           fmt::format("cannot be met: {}: {}.q at t = {:.4g} s is {:.4g} {}, its limit {:.4g} {}: off by {:.4g} {}",
                       goal.name, name.text, goal.time, value, unit, allowed, unit, std::abs(value - allowed), unit)});
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
      const std::string unit = unit_of_column(setting, c.name + ".q");
      found.push_back(
          fmt::format("the start has {}.q = {:.4g} {}, beyond its limit {:.4g} {}", c.name, q, unit, allowed, unit));
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
      const std::string& motor = tree.torque_names()[setting.motors[m]];
      const std::string unit = unit_of_column(setting, motor);
      found.push_back(fmt::format("to stand still at t = {:.4g} s takes {:.4g} {} of {}, its limit is {:.4g} {}",
                                  problem.time(knot), needed, unit, motor, setting.effort[m], unit));
    }
  }
  return found;
}

}  // namespace kinegraph::task
