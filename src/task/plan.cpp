#include "kinegraph/task/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kinegraph/task/plan_follow.hpp"
#include "kinegraph/task/plan_guess.hpp"
#include "kinegraph/task/plan_hints.hpp"
#include "kinegraph/task/plan_limits.hpp"
#include "kinegraph/task/plan_moments.hpp"
#include "kinegraph/task/plan_roll_out.hpp"
#include "kinegraph/task/plan_starts.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

using build::PlanProblem;
using build::PlanSample;
using build::PlanSetting;

/// Of the penalty method: where the start is far off, it finds better minima than the search for a feasible point does.
constexpr int kWarmIterations = 300, kNearIterations = 10;
/// Between knots a motion may pass limits that hold at the knots. Then these are drawn in, and it is solved again.
constexpr int kMostRounds = 5;
constexpr double kNearBarrier = 1e-5;  ///< μ of later rounds: limits move by little
constexpr double kPlanBarrier = 1e-3;  ///< μ at an earlier plan, which keeps its limits or nearly
constexpr int kBetween = 10;           ///< samples per step at which that is looked at

/// Unknowns times iterations, some 2 s of a processor: then a search ends that comes no nearer to holding.
constexpr double kPatience = 5e5;
constexpr double kLeastPatience = 60;  // iterations
constexpr const char* kNotFollowed =
    "no motion next to the plan was found that its roll-out follows: the plan is as it was (--refine 0 does not try)";

/// Laws of nature and of the calculus, and what contacts are: where not all can hold, goals and limits yield, and are
/// named.
bool is_law(const BoundFactor& bound) {
  static const char* const laws[] = {"dynamics",   "euler",        "trapezoidal",      "hermite",     "simpson",
                                     "height of ", "velocity of ", "acceleration of ", "friction of "};
  return std::any_of(std::begin(laws), std::end(laws),
                     [&](const char* law) { return bound.factor->name().starts_with(law); });
}

SqpOptions solver_options(const PlanOptions& options, bool far) {
  SqpOptions out;
  out.max_iterations = options.max_iterations;
  out.violation_tolerance = options.tolerance;
  out.optimality_tolerance = std::max(options.optimality, options.tolerance);
  out.warm_iterations = far ? kWarmIterations : kNearIterations;
  out.hinges = out.soft_equalities = options.soft > 0;
  out.threads = options.threads;
  out.violation_weight = [](const BoundFactor& bound) { return is_law(bound) ? 100.0 : 1.0; };
  out.on_iteration = options.on_iteration;
  out.progress = options.progress;
  return out;
}

/// Of what must hold.
double sigma(const PlanOptions& options) { return options.soft > 0 ? options.soft : 1; }

/// How the search ended, in a sentence.
std::string ending(const SqpReport& report, const PlanOptions& options) {
  switch (report.status) {
    case SqpStatus::infeasible:
      return fmt::format("in {} iterations the violation came to a local minimum, {:.3g}", report.iterations,
                         report.violation);
    case SqpStatus::max_iterations:
      return fmt::format("not converged in {} iterations, violation {:.3g}{}", report.iterations, report.violation,
                         options.soft > 0 ? "; allow more (--max-iterations), or a larger sigma (--soft)" : "");
    case SqpStatus::stuck:
      return fmt::format("after {} iterations no step improves the motion, violation {:.3g}", report.iterations,
                         report.violation);
    default:
      return report.message.empty() ? name(report.status) : report.message;
  }
}

/// Which constraint, when, by how much: the worst few. A search from some starts proves nothing of others.
Failure no_plan(const PlanProblem& problem, const PlanOptions& options, const SqpReport& report,
                const std::vector<std::string>& tried) {
  if (report.status == SqpStatus::interrupted) return Failure::interrupted();
  Failure failure{Failure::Kind::no_answer, {}};
  const auto say = [&](std::string text) { failure.diagnostics.push_back({Severity::error, {}, std::move(text)}); };
  say("no plan: " + ending(report, options));
  for (std::string& hint : hints(problem)) say(std::move(hint));
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(most, report.violations.size()); ++i) {
    const Violation& v = report.violations[i];
    const std::string when = v.step == kNoStep ? "" : fmt::format(" at t = {:.4g} s", problem.time(v.step));
    say(fmt::format("not met: {}{}: off by {:.4g}", v.name, when, v.amount));
  }
  if (report.violations.size() > most) say(fmt::format("and {} more such", report.violations.size() - most));
  if (options.soft > 0 || report.status == SqpStatus::not_finite) return failure;
  say(
      fmt::format("that is where the search ends from {}{}, no proof that there is no plan: another start may find one "
                  "(--guess FILE.csv, or guess in the task)",
                  options.guess ? "this guess" : "this start",
                  tried.empty() ? "" : fmt::format(" and others ({})", fmt::join(tried, ", "))));
  return failure;
}

Trajectory trajectory_of(const PlanProblem& problem) {
  const PlanSetting& setting = *problem.setting;
  bool clear = !setting.pairs.empty();  // something is kept clear of at every moment: shapes may come and go
  for (int k = 0; k < setting.knots() && clear; ++k) {
    clear = std::isfinite(build::least_distance(setting, problem.sample(k, false).q, k).first);
  }
  std::vector<std::string> columns = plan_columns(setting);
  if (clear) columns.push_back("clearance");
  Trajectory out(std::move(columns));
  const auto write = [&](int knot, bool middle) {
    const PlanSample sample = problem.sample(knot, middle);
    double* row = out.append(problem.time(knot) + (middle ? problem.step(knot) / 2 : 0));
    for (const Eigen::VectorXd* part : {&sample.q, &sample.v, &sample.a}) {
      row = std::copy(part->begin(), part->end(), row);
    }
    std::fill_n(row, setting.tree->freedoms(), 0.0);
    for (std::size_t m = 0; m < setting.motors.size(); ++m) row[setting.motors[m]] = sample.u[m];
    row += setting.tree->freedoms();
    for (const Eigen::Vector3d& f : sample.forces) row = std::copy_n(f.data(), 3, row);
    if (clear) *row = build::least_distance(setting, sample.q, knot).first;
  };
  for (int k = 0; k < setting.knots(); ++k) {
    write(k, false);
    if (setting.has_middles() && k < setting.task.steps) write(k, true);
  }
  return out;
}

void tell_torques(const PlanSetting& setting, const Trajectory& plan, PlanSummary& summary) {
  const int first = setting.tree->stored() + 2 * setting.tree->freedoms();
  for (const int motor : setting.motors) {
    double peak = 0, square = 0;
    for (int i = 0; i < plan.samples(); ++i) {
      const double tau = plan.at(i, first + motor);
      peak = std::max(peak, std::abs(tau));
      const double left = i > 0 ? plan.times()[i] - plan.times()[i - 1] : 0;
      const double right = i + 1 < plan.samples() ? plan.times()[i + 1] - plan.times()[i] : 0;
      square += 0.5 * (left + right) * tau * tau;
    }
    summary.torques.push_back(setting.tree->torque_names()[motor]);
    summary.torque_peak.push_back(peak);
    summary.torque_square.push_back(square);
  }
}

/// The goal that a roll-out misses by most beyond the plan, by more than is warned of; null: none.
const GoalMiss* worst_miss(const std::vector<GoalMiss>& misses) {
  const GoalMiss* worst = nullptr;
  for (const GoalMiss& miss : misses) {
    if (miss.what == "rest" || !(miss.roll_out - miss.plan > kMissWarned)) continue;
    if (!worst || miss.roll_out - miss.plan > worst->roll_out - worst->plan) worst = &miss;
  }
  return worst;
}

/// Whether the model's own friction alone, which the plan rounds off, makes it miss.
bool friction_misses(const PlanProblem& problem, const PlanOptions& options, const PlanSummary& summary) {
  if (!summary.has_friction) return false;
  return !worst_miss(goal_misses(problem, roll_out(problem, options.roll_out, PlanFriction::planned)));
}

/// Whose roll-out misses a goal that the plan meets, by how much, and what of it is the plan's own error.
void warn_of_miss(const PlanProblem& problem, const PlanOptions& options, PlanSummary& summary) {
  const GoalMiss* const worst = worst_miss(summary.misses);
  if (summary.roll_out_until < summary.duration * (1 - 1e-9)) {
    summary.warnings.push_back(fmt::format("rolled out open loop the motion ends at {:.4g} s of {:.4g} s",
                                           summary.roll_out_until, summary.duration));
  }
  if (!worst) return;
  summary.step_miss = step_miss(problem, options.roll_out);
  const auto warn = [&](const std::string& why) {
    const std::string goal = (worst->goal.starts_with("goal at ") ? "" : "goal ") + worst->goal;
    summary.warnings.push_back(
        fmt::format("rolled out open loop, {} misses {} by {:.3g} {} at {:.4g} s: {}, or follow the plan with feedback",
                    worst->what, goal, worst->roll_out, worst->unit, worst->time, why));
  };
  if (friction_misses(problem, options, summary)) {
    return warn(fmt::format("its dry friction is sharp, the plan rounds it off over {:g} rad/s or m/s (friction_speed)",
                            problem.setting->task.friction_speed));
  }
  const bool finest = problem.setting->task.collocation == Collocation::hermite_simpson;
  const char* const mend = options.soft > 0 ? "plan without --soft, which lets steps miss"
                           : finest         ? "take more steps"
                                            : "take more steps, or collocation: hermite-simpson";
  warn(fmt::format("single steps miss by up to {:.2g} rad or m, which an open loop lets grow; {}", summary.step_miss,
                   mend));
}

}  // namespace

Result<Planner> Planner::make(const Model& model, const PlanTask& task, const PlanOptions& options) {
  Result<PlanSetting> setting = PlanSetting::make(model, task);
  if (!setting) return setting.failure();
  if (auto beyond = impossible_goals(*setting); beyond && options.soft == 0) return *std::move(beyond);
  Planner planner;
  planner.options_ = options;
  planner.model_ = std::make_shared<const Model>(model);
  planner.problem_ = std::make_unique<PlanProblem>(
      PlanProblem::make(std::make_shared<const PlanSetting>(*std::move(setting)), sigma(options)));
  planner.asked_ = planner.problem_->setting;
  if (const auto done = set_guess(*planner.problem_, options); !done) return done.failure();
  if (options.soft == 0 && !options.guess) {
    if (auto beyond = goals_out_of_reach(*planner.problem_, options)) return *std::move(beyond);
  }
  Result<Sqp> solver = Sqp::make(planner.problem_->graph, planner.problem_->values);
  if (!solver) return solver.failure();
  planner.solver_ = std::make_unique<Sqp>(*std::move(solver));
  return planner;
}

namespace {

/// Whether a guess has the torques of a motion, too.
bool is_plan(const Trajectory* guess, const PlanSetting& setting) {
  return guess && std::all_of(setting.motors.begin(), setting.motors.end(),
                              [&](int motor) { return guess->find(setting.tree->torque_names()[motor]) >= 0; });
}

}  // namespace

/// The first round looks further where its start leads nowhere.
Result<SqpReport> Planner::search(int round, bool warm) {
  const bool far = problem_->setting->task.guess.type == TaskGuess::Type::rest && !options_.guess;
  SqpOptions solver = solver_options(options_, far);
  if (round > 1) {
    solver.barrier = kNearBarrier;
  } else if (is_plan(options_.guess, *problem_->setting)) {  // which the penalty method would leave
    solver.barrier = kPlanBarrier;
    solver.warm_iterations = 0;
  }
  const double doubt =
      hints(*problem_).empty() ? 1 : 0.5;  // of a robot that cannot hold itself where it starts or ends
  solver.patience =
      static_cast<int>(doubt * std::max(kLeastPatience, kPatience / std::max(1, solver_->structure().unknowns)));
  Result<SqpReport> report = solver_->solve(problem_->values, solver, warm || round > 1);
  tried_.clear();
  if (!report || report->converged() || report->status == SqpStatus::interrupted) return report;
  if (report->status == SqpStatus::not_finite || round > 1 || options_.soft > 0) return report;
  // where the robot is inside of something when it starts, none of them brings it out
  if (build::least_distance(*problem_->setting, problem_->setting->start_q, 0).first < 0) return report;
  const Values end = problem_->values;
  Result<OtherStarts> others = try_other_starts(*model_, options_, solver, *problem_, *solver_);
  if (!others) return others.failure();
  tried_ = std::move(others->tried);
  if (others->found) return *others->found;
  problem_->values = end;
  return report;
}

Result<PlanResult> Planner::solve(bool warm) {
  const Clock::time_point start = Clock::now();
  PlanResult result;
  std::vector<double> kept;
  std::vector<std::string> starts;
  for (int round = 1;; ++round) {
    const Result<SqpReport> report = search(round, warm);
    if (!report) return report.failure();
    if (report->status == SqpStatus::interrupted) return Failure::interrupted();
    if (round == 1) starts = tried_;
    if (!report->converged()) {
      if (round == 1) return no_plan(*problem_, options_, *report, starts);
      // limits that were drawn in cannot be met: the plan before is the answer
      std::copy(kept.begin(), kept.end(), problem_->values.buffer().begin());
      break;
    }
    result = {};
    result.summary.solver = *report;
    result.summary.rounds = round;
    result.summary.starts = starts;
    tell_limits(*problem_, *asked_, between_knots(*problem_, kBetween), result.summary);
    kept.assign(problem_->values.buffer().begin(), problem_->values.buffer().end());
    if (options_.soft > 0 || round == kMostRounds) break;
    auto tighter = drawn_in(*problem_->setting, *asked_, result.summary);
    if (!tighter || !rebuild(std::move(tighter))) break;
  }
  PlanSummary& summary = result.summary;
  summary.warnings = asked_->warnings;
  summary.duration = problem_->time(problem_->setting->task.steps);
  tell_roll_out(*problem_, options_, result);
  Result<std::optional<PlanProblem>> other = follow(*problem_, *asked_, options_, result);
  if (!other) return other.failure();
  const PlanProblem& told = *other ? **other : *problem_;
  for (const screw::Coordinate& c : asked_->tree->coordinates()) {
    for (const JointDynamics& dynamics : c.dynamics) summary.has_friction |= dynamics.friction != 0;
  }
  if (summary.rolled_out) warn_of_miss(told, options_, summary);
  if (summary.refine_failed) summary.warnings.push_back(kNotFollowed);
  if (summary.limit_excess > kLimitTolerance) {
    const std::string& worst = summary.limits.front().name;
    summary.warnings.push_back(fmt::format("between knots {} is beyond its limit by {:.2g} {}: take more steps", worst,
                                           summary.limit_excess, unit_of_column(*asked_, worst)));
  }
  if (summary.has_clearance && summary.clearance < asked_->margin - kLimitTolerance) {
    summary.warnings.push_back(fmt::format("between knots {} is {:.3g} m, the margin {:.3g} m: take more steps",
                                           summary.nearest, summary.clearance, asked_->margin));
  }
  summary.knots = problem_->setting->knots();
  for (const build::PlanPhase& phase : problem_->setting->phases) {
    summary.phases.push_back({problem_->time(phase.first), problem_->time(phase.last), phase.least, phase.most});
  }
  summary.variables = solver_->structure().unknowns;
  result.trajectory = trajectory_of(told);
  tell_torques(*problem_->setting, result.trajectory, summary);
  summary.solve_s = summary.wall_s = seconds_since(start);
  return result;
}

/// The graph with other limits, margins or another start; values and multipliers stay.
bool Planner::rebuild(std::shared_ptr<const PlanSetting> setting) {
  const SqpDuals duals = solver_->duals();
  auto next = std::make_unique<PlanProblem>(PlanProblem::make(std::move(setting), sigma(options_)));
  const PlanSample start = next->sample(0);
  std::copy(problem_->values.buffer().begin(), problem_->values.buffer().end(), next->values.buffer().begin());
  next->set(0, false, {start.q, start.v, next->sample(0).a, next->sample(0).u, next->sample(0).forces});
  Result<Sqp> solver = Sqp::make(next->graph, next->values);
  if (!solver) return false;
  solver_ = std::make_unique<Sqp>(*std::move(solver));
  problem_ = std::move(next);
  solver_->set_duals(duals);
  return true;
}

Result<PlanResult> Planner::plan() { return solve(false); }

Result<PlanResult> Planner::replan(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const screw::Tree& tree = *asked_->tree;
  if (q.size() != tree.stored() || v.size() != tree.freedoms()) {
    return Failure::bad_input(fmt::format("start: expected {} positions and {} rates, given {} and {}", tree.stored(),
                                          tree.freedoms(), q.size(), v.size()));
  }
  auto setting = std::make_shared<PlanSetting>(*asked_);
  setting->start_q = q;
  setting->start_v = v;
  const bool drawn_in = problem_->setting != asked_;
  asked_ = setting;
  if (drawn_in) {
    if (!rebuild(asked_)) return Failure::bad_input("start: the problem cannot be built for it");
    return solve(true);
  }
  problem_->setting = asked_;
  PlanSample start = problem_->sample(0);
  start.q = q;
  start.v = v;
  problem_->set(0, false, start);
  return solve(true);
}

Result<PlanResult> plan(const Model& model, const PlanTask& task, const PlanOptions& options) {
  const Clock::time_point start = Clock::now();
  Result<Planner> planner = Planner::make(model, task, options);
  if (!planner) return planner.failure();
  Result<PlanResult> result = planner->plan();
  if (result) result->summary.wall_s = seconds_since(start);
  return result;
}

}  // namespace kinegraph::task
