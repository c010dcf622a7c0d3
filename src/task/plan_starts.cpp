#include "kinegraph/task/plan_starts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kinegraph/task/clear_path.hpp"
#include "kinegraph/task/plan_guess.hpp"
#include "kinegraph/task/plan_roll_out.hpp"

namespace kinegraph::task {
namespace {

using build::PlanProblem;
using build::PlanSample;
using build::PlanSetting;

constexpr int kFew = 60, kLeast = 20;  // steps of the problem on which starts are tried
constexpr int kIterations = 150;       // of each, at most
constexpr int kStartPatience = 40;     // iterations, of each (SqpOptions::patience)
constexpr double kEnough = 6e5;        // unknowns times iterations of all: no further start after that
constexpr int kFromAfar = 300;         // of the penalty method, as where the start is the task's guess of rest

/// All times of goals are times of knots.
bool fits(const PlanTask& task) {
  const auto is_knot = [&](double t) { return std::abs(t / task.step() - task.knot(t)) < 1e-4; };
  return std::all_of(task.goals.begin(), task.goals.end(),
                     [&](const TaskGoal& goal) { return is_knot(goal.time) && is_knot(goal.until); });
}

/// The task on few steps, which the trapezoidal rule ties together; null: it has few already, or times that only many
/// steps meet.
std::shared_ptr<const PlanSetting> coarse(const Model& model, const PlanSetting& asked) {
  PlanTask task = asked.task;
  if (task.collocation == Collocation::none) return nullptr;
  const bool simpler = task.collocation == Collocation::hermite_simpson;
  if (task.steps <= kFew && !simpler) return nullptr;
  task.collocation = Collocation::trapezoidal;
  for (int steps = std::min(kFew, task.steps); steps >= std::min(kLeast, task.steps); --steps) {
    task.steps = steps;
    if (!fits(task)) continue;
    Result<PlanSetting> setting = PlanSetting::make(model, task);
    if (!setting) continue;
    setting->start_q = asked.start_q;
    setting->start_v = asked.start_v;
    return std::make_shared<const PlanSetting>(*std::move(setting));
  }
  return nullptr;
}

std::vector<Eigen::VectorXd> positions(const PlanProblem& problem) {
  std::vector<Eigen::VectorXd> all;
  for (int k = 0; k < problem.setting->knots(); ++k) all.push_back(problem.sample(k).q);
  return all;
}

/// Knots between which a start may go where it likes: the first, those of goals, the last.
std::vector<int> stops(const PlanSetting& setting) {
  std::vector<int> knots{0, setting.task.steps};
  for (const TaskGoal& goal : setting.task.goals) {
    if (goal.joints.empty() && !goal.frame.given()) continue;
    for (int k = setting.task.knot(goal.time); k <= setting.task.knot(goal.until); ++k) knots.push_back(k);
  }
  std::sort(knots.begin(), knots.end());
  knots.erase(std::unique(knots.begin(), knots.end()), knots.end());
  return knots;
}

double smooth(double s) { return s * s * (3 - 2 * s); }

/// A place on a way with corners; s: share of its length.
Eigen::VectorXd along(const std::vector<Eigen::VectorXd>& corners, double s) {
  double length = 0;
  for (std::size_t i = 1; i < corners.size(); ++i) length += (corners[i] - corners[i - 1]).norm();
  double left = s * length;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const double part = (corners[i] - corners[i - 1]).norm();
    if (left <= part && part > 0) return corners[i - 1] + left / part * (corners[i] - corners[i - 1]);
    left -= part;
  }
  return corners.back();
}

/// Around the obstacles, wherever the motion goes through them; false: it does not, or no way is found.
bool around(const PlanSetting& setting, std::vector<Eigen::VectorXd>& q) {
  bool changed = false;
  const std::vector<int> knots = stops(setting);
  for (std::size_t i = 1; i < knots.size(); ++i) {
    const int first = knots[i - 1], last = knots[i];
    bool clear = true;
    for (int k = first + 1; k < last && clear; ++k) clear = is_clear(setting, q[k], k);
    if (clear) continue;
    const std::vector<Eigen::VectorXd> corners = clear_path(setting, q[first], q[last], first + 1);
    if (corners.empty()) return false;
    for (int k = first + 1; k < last; ++k) {
      q[k] = along(corners, smooth(static_cast<double>(k - first) / (last - first)));
    }
    changed = true;
  }
  return changed;
}

/// By way of the middle of the joints' ranges, half-way between stops; false: no joint has a range.
bool through_middle(const PlanSetting& setting, std::vector<Eigen::VectorXd>& q) {
  bool changed = false;
  const std::vector<int> knots = stops(setting);
  const Eigen::Index offset = q[0].size() - static_cast<Eigen::Index>(setting.lower.size());
  for (std::size_t i = 1; i < knots.size(); ++i) {
    const int first = knots[i - 1], last = knots[i];
    const Eigen::VectorXd half = 0.5 * (q[first] + q[last]);
    for (int k = first + 1; k < last; ++k) {
      const double s = static_cast<double>(k - first) / (last - first);
      const double share = smooth(s < 0.5 ? 2 * s : 2 - 2 * s);
      for (std::size_t j = 0; j < setting.lower.size(); ++j) {
        const double middle = 0.5 * (setting.lower[j] + setting.upper[j]);
        if (!std::isfinite(middle)) continue;
        q[k][offset + j] += share * (middle - half[offset + j]);
        changed = true;
      }
    }
  }
  return changed;
}

/// The middle of the joints' ranges; where they have none, as at the start.
Eigen::VectorXd middle_of_ranges(const PlanSetting& setting) {
  Eigen::VectorXd q = setting.start_q;
  const Eigen::Index offset = q.size() - static_cast<Eigen::Index>(setting.lower.size());
  for (std::size_t j = 0; j < setting.lower.size(); ++j) {
    const double middle = 0.5 * (setting.lower[j] + setting.upper[j]);
    if (std::isfinite(middle)) q[offset + j] = middle;
  }
  return q;
}

/// Every moment of the fine problem from the coarse one, linearly between its knots.
Result<std::monostate> spread(const PlanProblem& from, const PlanOptions& options, PlanProblem& to) {
  Trajectory table(plan_columns(*from.setting));
  const PlanSetting& setting = *from.setting;
  for (int k = 0; k < setting.knots(); ++k) {
    const PlanSample sample = from.sample(k);
    double* row = table.append(from.time(k));
    for (const Eigen::VectorXd* part : {&sample.q, &sample.v, &sample.a}) {
      row = std::copy(part->begin(), part->end(), row);
    }
    std::fill_n(row, setting.tree->freedoms(), 0.0);
    for (std::size_t m = 0; m < setting.motors.size(); ++m) row[setting.motors[m]] = sample.u[m];
    row += setting.tree->freedoms();
    for (const Eigen::Vector3d& f : sample.forces) row = std::copy_n(f.data(), 3, row);
  }
  for (std::size_t i = 0; i < setting.phases.size(); ++i) {
    to.values.at(to.setting->phases[i].duration())[0] = from.values.at(setting.phases[i].duration())[0];
  }
  PlanOptions with_table = options;
  with_table.guess = &table;
  return set_guess(to, with_table);
}

}  // namespace

Result<OtherStarts> try_other_starts(const Model& model, const PlanOptions& options, const SqpOptions& search,
                                     PlanProblem& problem, Sqp& solver) {
  OtherStarts result;
  const std::shared_ptr<const PlanSetting> few = coarse(model, *problem.setting);
  std::optional<PlanProblem> small;
  if (few) small = PlanProblem::make(few, 1);
  PlanProblem& trial = small ? *small : problem;
  const PlanSetting& setting = *trial.setting;
  if (const auto done = set_guess(trial, options); !done) return done.failure();
  const std::vector<Eigen::VectorXd> asked = positions(trial);
  const Values first = trial.values;
  SqpOptions limited = search;
  limited.max_iterations = std::min(search.max_iterations, kIterations);
  limited.patience = kStartPatience;
  double work = 0;
  const auto is_enough = [&] { return work > kEnough; };

  // True: the search is over, with a plan or because it was interrupted.
  const auto run = [&](const char* name, int warm_iterations) -> Result<bool> {
    result.tried.emplace_back(name);
    SqpOptions now = limited;
    now.warm_iterations = warm_iterations;
    Result<SqpReport> report = small ? minimize(trial.graph, trial.values, now) : solver.solve(trial.values, now);
    if (!report) return report.failure();
    work += static_cast<double>(report->iterations + report->warm_iterations) * trial.values.tangent_size();
    if (report->converged() && small) {
      if (const auto done = spread(*small, options, problem); !done) return done.failure();
      report = solver.solve(problem.values, search);
      if (!report) return report.failure();
    }
    if (report->status == SqpStatus::interrupted) return Failure::interrupted();
    if (report->converged()) result.found = *report;
    return result.found.has_value();
  };
  const auto run_from = [&](const char* name, const std::vector<Eigen::VectorXd>& q, int warm_iterations) {
    trial.values = first;
    build::guess(trial, q);
    return run(name, warm_iterations);
  };

  if (small) {
    const Result<bool> over = run("fewer steps first", search.warm_iterations);
    if (!over || *over) return over ? Result<OtherStarts>(std::move(result)) : over.failure();
  }
  if (!setting.state.floating && !setting.pairs.empty() && !is_enough()) {
    std::vector<Eigen::VectorXd> q = asked;
    if (around(setting, q)) {
      const Result<bool> over = run_from("around the obstacles", q, search.warm_iterations);
      if (!over || *over) return over ? Result<OtherStarts>(std::move(result)) : over.failure();
    }
  }
  const TaskGuess::Type guessed = setting.task.guess.type;
  if (!setting.state.floating) {
    const bool kinematics =
        !options.guess && (guessed == TaskGuess::Type::kinematics || guessed == TaskGuess::Type::automatic);
    const auto run_reaching = [&](const char* name, const Eigen::VectorXd& from) -> Result<bool> {
      const std::vector<Eigen::VectorXd> q = by_kinematics(setting, options, from);
      if (q.empty()) return false;
      return run_from(name, q, search.warm_iterations);
    };
    if (!kinematics && !is_enough()) {
      const Result<bool> over = run_reaching("by inverse kinematics", setting.start_q);
      if (!over || *over) return over ? Result<OtherStarts>(std::move(result)) : over.failure();
    }
    if (guessed != TaskGuess::Type::rest && !is_enough()) {
      const std::vector<Eigen::VectorXd> q(setting.knots(), setting.start_q);
      const Result<bool> over = run_from("from rest", q, kFromAfar);
      if (!over || *over) return over ? Result<OtherStarts>(std::move(result)) : over.failure();
    }
    if (!is_enough()) {
      const Result<bool> over = run_reaching("in another posture", middle_of_ranges(setting));
      if (!over || *over) return over ? Result<OtherStarts>(std::move(result)) : over.failure();
    }
    std::vector<Eigen::VectorXd> q = asked;
    if (!is_enough() && through_middle(setting, q)) {
      const Result<bool> over = run_from("by the middle of the joints' ranges", q, search.warm_iterations);
      if (!over) return over.failure();
    }
  }
  return result;
}

}  // namespace kinegraph::task
