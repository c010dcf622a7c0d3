#include "kinegraph/task/plan_hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"
#include "kinegraph/task/plan_moments.hpp"

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

/// What must hold by itself: joints at a time.
bool is_firm(const TaskGoal& goal) { return goal.sigma == 0 && goal.tolerance == 0 && goal.time > 0; }

void find_beyond_limits(const build::PlanSetting& setting, Failure& failure) {
  for (const TaskGoal& goal : setting.task.goals) {
    if (!is_firm(goal)) continue;
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
}

/// Where a joint has to be, and until when.
struct Held {
  const TaskGoal* goal = nullptr;  ///< null: the start
  double q = 0, until = 0;
};

/// Why a joint cannot be at `q` from `at` on; empty if nothing is against it. Goals that hold at one time must agree,
///
///     |q₂ − q₁| ≤ v_max (t₂ − t₁)      of the others
std::string out_of_step(const build::PlanSetting& setting, const screw::Coordinate& c, const Held& before, double q,
                        double at) {
  constexpr double digits = 1e-9;
  const std::string unit = unit_of_column(setting, c.name + ".q");
  const double way = std::abs(q - before.q);
  if (before.goal && at <= before.until + digits) {
    if (way <= digits) return "";
    return fmt::format("{}.q at t = {:.4g} s is {:.4g} {}, of {} {:.4g} {}: off by {:.4g} {}", c.name, at, q, unit,
                       before.goal->name, before.q, unit, way, unit);
  }
  if (!setting.phases.empty()) return "";  // there is as much time as it takes
  const double time = at - before.until, speed = setting.speed[limited(setting, c.name)];
  if (way <= speed * time * (1 + digits) + digits) return "";
  return fmt::format("{} has {:.4g} s for {:.4g} {} and moves by {:.4g} {}/s at most: off by {:.4g} {}", c.name, time,
                     way, unit, speed, unit, way - speed * time, unit);
}

/// From the start and from goal to goal.
void find_out_of_step(const build::PlanSetting& setting, Failure& failure) {
  std::vector<const TaskGoal*> goals;
  for (const TaskGoal& goal : setting.task.goals) {
    if (is_firm(goal)) goals.push_back(&goal);
  }
  std::stable_sort(goals.begin(), goals.end(), [](auto* a, auto* b) { return a->time < b->time; });
  for (const screw::Coordinate& c : setting.tree->coordinates()) {
    if (limited(setting, c.name) < 0) continue;
    Held held{nullptr, setting.start_q[c.q], 0};
    for (const TaskGoal* goal : goals) {
      for (const auto& [name, value] : goal->joints) {
        if (name.text != c.name) continue;
        const std::string why = out_of_step(setting, c, held, value, setting.time(setting.task.knot(goal->time)));
        if (!why.empty()) {
          failure.diagnostics.push_back(
              {Severity::error, name.where, fmt::format("cannot be met: {}: {}", goal->name, why)});
        }
        const double until = setting.time(setting.task.knot(goal->until));
        if (until >= held.until) held = {goal, value, until};
      }
    }
  }
}

/// How a pose is too near to something; empty if it is not.
std::string too_near(const build::PlanSetting& setting, const Eigen::VectorXd& q, int knot) {
  const auto [distance, pair] = build::least_distance(setting, q, knot);
  if (pair < 0 || distance >= setting.margin - 1e-9) return "";
  return fmt::format("clearance {} is {:.4g} m there, {:.4g} m is asked for", setting.pairs[pair].name, distance,
                     setting.margin);
}

/// Goals that leave no joint free, where something is in the way.
void find_touching(const build::PlanSetting& setting, Failure& failure) {
  if (setting.state.floating) return;
  for (const TaskGoal& goal : setting.task.goals) {
    if (!is_firm(goal) || static_cast<int>(goal.joints.size()) < setting.state.joints) continue;
    Eigen::VectorXd q = setting.start_q;
    int given = 0;
    for (const auto& [name, value] : goal.joints) {
      const int c = setting.tree->find_coordinate(name.text);
      if (c < 0 || limited(setting, name.text) < 0) continue;
      q[setting.tree->coordinates()[c].q] = value;
      ++given;
    }
    const std::string near = given == setting.state.joints ? too_near(setting, q, setting.task.knot(goal.time)) : "";
    if (near.empty()) continue;
    failure.diagnostics.push_back({Severity::error, goal.where,
                                   fmt::format("cannot be met: {} at t = {:.4g} s: {}", goal.name, goal.time, near)});
  }
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

std::optional<Failure> impossible_goals(const build::PlanSetting& setting) {
  Failure failure{Failure::Kind::no_answer, {}};
  find_beyond_limits(setting, failure);
  find_out_of_step(setting, failure);
  find_touching(setting, failure);
  if (failure.diagnostics.empty()) return {};
  return failure;
}

namespace {

/// Motors that cannot hold the robot still where the plan has it at a knot.
std::vector<WeakMotor> too_weak(const build::PlanProblem& problem, int knot) {
  const build::PlanSetting& setting = *problem.setting;
  if (!setting.contacts.empty()) return too_weak_to_stand(problem, knot);
  if (setting.state.floating) return {};
  const std::shared_ptr<const screw::Tree>& at = setting.tree_at(knot);
  if (!screw::InverseDynamics::refusal(*at).empty()) return {};
  screw::InverseDynamics dynamics(at);
  const Eigen::VectorXd q = problem.sample(knot, false).q, still = Eigen::VectorXd::Zero(at->freedoms());
  Eigen::VectorXd tau(at->freedoms());
  dynamics.evaluate(q.data(), still.data(), still.data(), nullptr, {.tau = tau.data()});
  std::vector<WeakMotor> weak;
  for (std::size_t m = 0; m < setting.motors.size(); ++m) {
    const double needed = std::abs(tau[setting.motors[m]]);
    if (needed > setting.effort[m]) weak.push_back({static_cast<int>(m), needed});
  }
  return weak;
}

}  // namespace

std::vector<std::string> hints(const build::PlanProblem& problem) {
  const build::PlanSetting& setting = *problem.setting;
  std::vector<std::string> found;
  for (const screw::Coordinate& c : setting.tree->coordinates()) {
    const int joint = limited(setting, c.name);
    if (joint < 0) continue;
    const double q = setting.start_q[c.q], allowed = nearest_allowed(setting, joint, q);
    if (allowed != q) {
      const std::string unit = unit_of_column(setting, c.name + ".q");
      found.push_back(
          fmt::format("the start has {}.q = {:.4g} {}, beyond its limit {:.4g} {}", c.name, q, unit, allowed, unit));
    }
  }
  for (const screw::Coordinate& c : setting.tree->coordinates()) {
    const int joint = limited(setting, c.name);
    if (joint < 0 || std::abs(setting.start_v[c.v]) <= setting.speed[joint]) continue;
    const std::string unit = unit_of_column(setting, c.name + ".v");
    found.push_back(fmt::format("the start has {}.v = {:.4g} {}, beyond its limit {:.4g} {}", c.name,
                                setting.start_v[c.v], unit, setting.speed[joint], unit));
  }
  if (const std::string near = too_near(setting, setting.start_q, 0); !near.empty()) {
    found.push_back("the start is too near: " + near);
  }
  for (const int knot : {0, setting.task.steps}) {
    for (const WeakMotor& weak : too_weak(problem, knot)) {
      const std::string& motor = setting.tree->torque_names()[setting.motors[weak.motor]];
      const std::string unit = unit_of_column(setting, motor);
      found.push_back(fmt::format("to stand still at t = {:.4g} s takes {:.4g} {} of {}, its limit is {:.4g} {}",
                                  problem.time(knot), weak.needed, unit, motor, setting.effort[weak.motor], unit));
    }
  }
  return found;
}

}  // namespace kinegraph::task
