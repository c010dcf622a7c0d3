#include "kinegraph/task/plan_guess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/task/reach.hpp"
#include "kinegraph/task/spatial_columns.hpp"

namespace kinegraph::task {
namespace {

using build::PlanProblem;
using build::PlanSetting;

constexpr double kFar = 1e-3,
                 kTurned = 1e-2;  // m, rad: what no start of inverse kinematics comes nearer to is out of reach

/// The robot with the limits of the task. What mimics a joint limits it already.
Result<std::shared_ptr<const screw::Tree>> within_limits(const PlanSetting& setting) {
  Robot robot = setting.tree->robot();
  for (Joint& joint : robot.joints) {
    if (joint.mimic) joint.limits.clear();
  }
  const int first = setting.tree->freedoms() - setting.state.joints;
  for (const screw::Coordinate& c : setting.tree->coordinates()) {
    if (c.freedoms != 1 || c.joint < 0) continue;
    std::vector<JointLimits>& limits = robot.joints[c.joint].limits;
    limits = c.limits;
    limits[0].lower = setting.lower[c.v - first];
    limits[0].upper = setting.upper[c.v - first];
  }
  return screw::Tree::make(robot);
}

/// A goal that must be met, though no position within the limits does.
void tell_unreachable(const PlanSetting& setting, const TaskGoal& goal, const Reached& found, Failure& failure) {
  const bool must = goal.sigma == 0 && goal.tolerance == 0;
  if (!must || setting.state.floating || found.solved) return;
  if (found.distance <= kFar && found.angle <= kTurned) return;
  std::string by = found.distance > kFar ? fmt::format("{:.3g} m", found.distance) : "";
  if (found.angle > kTurned) by += fmt::format("{}{:.3g} rad", by.empty() ? "" : " and ", found.angle);
  failure.diagnostics.push_back(
      {Severity::error,
       {},
       fmt::format("cannot be met: {}: {} at t = {:.4g} s: off by {}", goal.name, goal.frame.text, goal.time, by)});
}

/// Positions at the goals of frames, each found from the one before, the first from q. No answer: one is out of reach.
Result<std::vector<std::pair<int, Eigen::VectorXd>>> reached(const PlanSetting& setting, const PlanOptions& options,
                                                             Eigen::VectorXd q) {
  std::vector<const TaskGoal*> goals;
  for (const TaskGoal& goal : setting.task.goals) {
    if (goal.frame.given() && goal.frame.text != "com" && goal.time > 0) goals.push_back(&goal);
  }
  std::stable_sort(goals.begin(), goals.end(), [](const auto* a, const auto* b) { return a->time < b->time; });
  std::vector<std::pair<int, Eigen::VectorXd>> via;
  Failure failure{Failure::Kind::no_answer, {}};
  const Result<std::shared_ptr<const screw::Tree>> tree = within_limits(setting);
  if (!tree) return tree.failure();
  for (const TaskGoal* goal : goals) {
    FrameGoal frame{goal->frame.text, goal->offset, {}};
    frame.pose.rotation = goal->rotation.has_value();
    if (goal->rotation) frame.pose.X_WG.R = goal->rotation->toRotationMatrix();
    for (int i = 0; i < 3; ++i) {
      const double x = goal->position ? (*goal->position)[i] : std::nan("");
      frame.pose.axis[i] = !std::isnan(x);
      frame.pose.X_WG.p[i] = std::isnan(x) ? 0 : x;
    }
    ReachOptions reach_options;
    reach_options.seed = options.seed;
    reach_options.progress = options.progress;
    const Result<Reached> found = reach(*tree, q, {frame}, reach_options);
    if (!found) return found.failure();
    tell_unreachable(setting, *goal, *found, failure);
    q = found->q;
    for (const double time : {goal->time, goal->until}) {
      via.emplace_back(setting.task.knot(time), q);
    }
  }
  if (failure.diagnostics.empty()) return via;
  failure.diagnostics.insert(failure.diagnostics.begin(),
                             {Severity::error, {}, "no plan: no position within the joints' limits reaches a goal"});
  return failure;
}

/// Every moment from a table, linearly between its rows; what the table does not have stays as it is.
Result<std::monostate> from_table(PlanProblem& problem, const Trajectory& table) {
  const PlanSetting& setting = *problem.setting;
  if (table.samples() == 0) return Failure::bad_input(header_of(table), "the table of the guess has no rows");
  const screw::Tree& tree = *setting.tree;
  const auto find = [&](const std::vector<std::string>& names) {
    std::vector<int> series;
    for (const std::string& name : names) series.push_back(table.find(name));
    return series;
  };
  const std::vector<int> q = find(tree.position_names()), v = find(tree.velocity_names()),
                         a = find(tree.acceleration_names()), tau = find(tree.torque_names());
  for (std::size_t i = 0; i < q.size(); ++i) {
    if (q[i] < 0) {
      return Failure::bad_input(header_of(table),
                                "the table of the guess has no column '" + tree.position_names()[i] + "'");
    }
  }
  const auto& times = table.times();
  const int per_step = setting.has_middles() ? 2 : 1;
  if (table.samples() == per_step * setting.task.steps + 1) {  // a plan of this task: as long as its phases were
    for (const build::PlanPhase& phase : setting.phases) {
      const double lasted = times[per_step * phase.last] - times[per_step * phase.first];
      problem.values.at(phase.duration())[0] = std::clamp(lasted, phase.least, phase.most);
    }
  }
  const auto fill = [&](int knot, bool middle) {
    const double t = problem.time(knot) + (middle ? problem.step(knot) / 2 : 0);
    const auto above = std::lower_bound(times.begin(), times.end(), t - 1e-9);
    const int hi = std::min(static_cast<int>(above - times.begin()), table.samples() - 1), lo = std::max(0, hi - 1);
    const double width = times[hi] - times[lo], w = width > 0 ? std::clamp((t - times[lo]) / width, 0.0, 1.0) : 0;
    const auto at = [&](int series) { return (1 - w) * table.at(lo, series) + w * table.at(hi, series); };
    build::PlanSample sample = problem.sample(knot, middle);
    for (std::size_t i = 0; i < q.size(); ++i) sample.q[i] = at(q[i]);
    if (setting.state.floating) sample.q.head<4>().normalize();
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (v[i] >= 0) sample.v[i] = at(v[i]);
      if (a[i] >= 0) sample.a[i] = at(a[i]);
    }
    for (std::size_t m = 0; m < setting.motors.size(); ++m) {
      if (tau[setting.motors[m]] >= 0) sample.u[m] = at(tau[setting.motors[m]]);
    }
    for (std::size_t c = 0; c < setting.contacts.size(); ++c) {
      const int fx = table.find(setting.contacts[c].name + ".fx"), fy = table.find(setting.contacts[c].name + ".fy"),
                fz = table.find(setting.contacts[c].name + ".fz");
      if (fx >= 0 && fy >= 0 && fz >= 0) sample.forces[c] = {at(fx), at(fy), at(fz)};
    }
    if (knot == 0 && !middle) sample.q = setting.start_q, sample.v = setting.start_v;
    problem.set(knot, middle, sample);
  };
  for (int k = 0; k < setting.knots(); ++k) {
    fill(k, false);
    if (setting.has_middles() && k < setting.task.steps) fill(k, true);
  }
  return std::monostate{};
}

}  // namespace

std::vector<Eigen::VectorXd> by_kinematics(const PlanSetting& setting, const PlanOptions& options,
                                           const Eigen::VectorXd& from) {
  const auto found = reached(setting, options, from);
  if (!found || found->empty()) return {};
  return build::interpolated(setting, *found);
}

Result<std::monostate> set_guess(PlanProblem& problem, const PlanOptions& options) {
  const PlanSetting& setting = *problem.setting;
  std::vector<std::pair<int, Eigen::VectorXd>> via;
  const TaskGuess::Type type = setting.task.guess.type;
  const bool wanted = !options.guess && (type == TaskGuess::Type::kinematics ||
                                         (type == TaskGuess::Type::automatic && !setting.state.floating));
  if (wanted || (!setting.state.floating && options.soft == 0 &&
                 !options.guess)) {  // else only to see whether goals can be reached
    auto found = reached(setting, options, setting.start_q);
    if (!found) return found.failure();
    if (wanted) via = *std::move(found);
  }
  const bool rests = type == TaskGuess::Type::rest;
  build::guess(problem, rests ? std::vector<Eigen::VectorXd>(setting.knots(), setting.start_q)
                              : build::interpolated(setting, via));
  if (options.guess) return from_table(problem, *options.guess);
  return std::monostate{};
}

}  // namespace kinegraph::task
