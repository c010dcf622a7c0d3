#include "kinegraph/task/plan_moments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "kinegraph/build/plan_moment.hpp"
#include "kinegraph/task/plan_hints.hpp"
#include "kinegraph/task/reach.hpp"

namespace kinegraph::task {
namespace {

using build::PlanKeys;
using build::PlanMoment;
using build::PlanProblem;
using build::PlanSetting;

constexpr int kMomentStarts = 60, kMomentIterations = 100;
// m, rad: what no start comes nearer to is out of reach. Points that stand may have drifted by a little.
constexpr double kFarInAir = 1e-3, kTurnedInAir = 1e-2, kFarOnFeet = 5e-3, kTurnedOnFeet = 2e-2;
constexpr double kUnbalanced = 1e-2;  // N, N m: what holds the robot is no matter of torques alone
constexpr double kWeak = 1e-3;        // of a limit

/// A row that does not hold.
struct Missed {
  std::string name;
  double amount = 0;
  bool yields = false;
};

std::vector<Missed> missed(const PlanMoment& moment) {
  std::vector<Missed> all;
  std::vector<double> residual;
  std::vector<const double*> slots;
  for (int f = 0; f < moment.graph.size(); ++f) {
    const BoundFactor& bound = moment.graph[f];
    if (bound.role == Role::cost) continue;
    slots.clear();
    for (const Key& key : bound.keys) slots.push_back(moment.values.data(moment.values.find(key)));
    residual.resize(bound.factor->rows());
    bound.factor->evaluate(slots, residual.data(), nullptr);
    for (int r = 0; r < bound.factor->rows(); ++r) {
      const double amount = bound.role == Role::equality ? std::abs(residual[r]) : std::max(0.0, -residual[r]);
      all.push_back({bound.factor->row_name(r), amount, moment.yields[f]});
    }
  }
  return all;
}

/// As near to holding as it comes from here. False: there is no search, or it was interrupted.
bool settle(PlanMoment& moment, const PlanOptions& options) {
  SqpOptions solver;
  solver.soft_equalities = solver.hinges = true;
  solver.max_iterations = kMomentIterations;
  solver.progress = options.progress;
  const Result<SqpReport> report = minimize(moment.graph, moment.values, solver);
  return report && report->status != SqpStatus::interrupted && report->status != SqpStatus::not_finite;
}

/// Of a row of a goal: rad where it turns something.
std::string unit_of(const PlanSetting& setting, const std::string& row) {
  const std::string what = row.substr(std::min(row.size(), row.rfind(": ") + 2));
  if (what.starts_with("turn ")) return "rad";
  const std::string unit = unit_of_column(setting, what);
  return unit.empty() ? "m" : unit;
}

/// The rows of goals that stay far from holding, of the start that comes nearest; empty: all can hold.
std::vector<Missed> out_of_reach(const PlanProblem& problem, int knot, const PlanOptions& options) {
  const PlanSetting& setting = *problem.setting;
  PlanMoment moment = build::posture(problem, knot);
  if (moment.graph.size() == 0) return {};
  const bool stands = !setting.contacts.empty();
  const auto is_far = [&](const Missed& row) {
    const bool turns = unit_of(setting, row.name) == "rad";
    const double most = turns ? (stands ? kTurnedOnFeet : kTurnedInAir) : stands ? kFarOnFeet : kFarInAir;
    return row.yields && row.amount > most;
  };
  std::mt19937_64 random(options.seed);
  std::vector<Missed> nearest;
  double least = 0;
  for (int start = 0; start < kMomentStarts; ++start) {
    Eigen::VectorXd q = start == 1 ? setting.start_q : problem.sample(knot).q;
    if (start > 1) {
      q = random_position(*setting.tree, q, random);
      if (setting.state.floating) q.head<7>() = problem.sample(knot).q.head<7>();
    }
    build::set_posture(setting, q, moment);
    if (!settle(moment, options)) return {};
    std::vector<Missed> rows = missed(moment);
    double sum = 0;
    for (const Missed& row : rows) sum += row.amount * row.amount * (row.yields ? 1 : PlanMoment::kFirm);
    if (start == 0 || sum < least) least = sum, nearest = std::move(rows);
    if (std::none_of(nearest.begin(), nearest.end(), is_far)) return {};
  }
  nearest.erase(std::remove_if(nearest.begin(), nearest.end(), [&](const Missed& row) { return !is_far(row); }),
                nearest.end());
  return nearest;
}

/// Knots at which a position must be.
std::set<int> knots_of_goals(const PlanSetting& setting) {
  std::set<int> knots;
  for (const TaskGoal& goal : setting.task.goals) {
    if (goal.sigma > 0 || (goal.joints.empty() && !goal.frame.given())) continue;
    knots.insert(setting.task.knot(goal.time));
    knots.insert(setting.task.knot(goal.until));
  }
  knots.erase(0);
  return knots;
}

}  // namespace

std::optional<Failure> goals_out_of_reach(const PlanProblem& problem, const PlanOptions& options) {
  const PlanSetting& setting = *problem.setting;
  Failure failure{Failure::Kind::no_answer, {}};
  for (const int knot : knots_of_goals(setting)) {
    for (const Missed& row : out_of_reach(problem, knot, options)) {
      failure.diagnostics.push_back({Severity::error,
                                     {},
                                     fmt::format("cannot be met: {} at t = {:.4g} s: off by {:.3g} {}", row.name,
                                                 setting.time(knot), row.amount, unit_of(setting, row.name))});
    }
  }
  if (failure.diagnostics.empty()) return {};
  failure.diagnostics.insert(failure.diagnostics.begin(),
                             {Severity::error,
                              {},
                              fmt::format("no plan: no position within the joints' limits{} reaches a goal",
                                          setting.contacts.empty() ? "" : ", with what stands in its place,")});
  return failure;
}

std::vector<WeakMotor> too_weak_to_stand(const PlanProblem& problem, int knot) {
  const PlanSetting& setting = *problem.setting;
  PlanMoment moment = build::stillness(problem, knot);
  if (moment.graph.size() == 0 || !settle(moment, {})) return {};
  for (const Missed& row : missed(moment)) {
    if (!row.yields && row.amount > kUnbalanced * PlanMoment::kFirm) return {};
  }
  std::vector<WeakMotor> weak;
  const Eigen::VectorXd u = moment.values.vector(PlanKeys{}.input());
  for (int m = 0; m < u.size(); ++m) {
    if (std::abs(u[m]) > setting.effort[m] * (1 + kWeak)) weak.push_back({m, std::abs(u[m])});
  }
  return weak;
}

}  // namespace kinegraph::task
