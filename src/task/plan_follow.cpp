#include "kinegraph/task/plan_follow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/task/plan_limits.hpp"
#include "kinegraph/task/plan_roll_out.hpp"
#include "kinegraph/task/plan_roller.hpp"

namespace kinegraph::task {
namespace {

using build::PlanProblem;
using build::PlanSample;
using build::PlanSetting;
using build::PlanShot;

constexpr int kMostShots = 20, kIdleShots = 4;  // in which the gaps must have fallen by half
constexpr int kMostIterations = 60;             // of each, a problem that is nearly convex
constexpr double kEnough = 0.1;                 // of the miss that is allowed
constexpr double kDifference = 1e-6;            // rad, rad/s, N m: of Φ, whose slopes need not be exact
constexpr double kSlow = 0.05;                  // a shot that leaves more of what the last one missed asks for new ones
constexpr double kWide = 100;                   // times the violation that is allowed: not worth a look at limits
constexpr double kTolerance = 1e-11;            // rad, rad/s: an open loop lets it grow a million times
constexpr double kBarrier = 1e-4;               // limits are met already, or nearly

/// rad or m: by how much more than the plan its roll-out misses a goal at most, with friction as in the plan; infinite
/// where it does not get there.
double miss_beyond_plan(const PlanProblem& problem, const PlanOptions& options) {
  double worst = 0;
  for (const GoalMiss& miss : goal_misses(problem, roll_out(problem, options.roll_out, PlanFriction::planned))) {
    if (miss.what == "rest") continue;
    if (std::isnan(miss.roll_out)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, miss.roll_out - miss.plan);
  }
  return worst;
}

/// The slopes of Φ, by differences, of one step after the other.
class Slopes {
 public:
  explicit Slopes(const PlanProblem& problem)
      : problem_(problem),
        n_(problem.setting->state.joints),
        motors_(static_cast<int>(problem.setting->motors.size())),
        roller_(problem, 1, PlanFriction::planned) {}

  /// By [q v u₀ (uₘ) u₁]. False: the step cannot be gone.
  bool find(int k, Eigen::MatrixXd& by) {
    k_ = k;
    inputs_ = roller_.inputs(k);
    parts_ = (roller_.parts(k, inputs_.from.q.data()) + 1) / 2;  // that many are accurate, half of them stable
    const bool middles = problem_.setting->has_middles();
    by.setZero(2 * n_, 2 * n_ + (middles ? 3 : 2) * motors_);
    Eigen::VectorXd at(2 * n_);
    at << inputs_.from.q, inputs_.from.v;
    if (!go(at, here_)) return false;
    int column = 0;
    const auto move = [&](double& x) {
      const double before = x;
      x += kDifference * std::max(1.0, std::abs(x));
      const double by_much = x - before;
      const bool gone = go(at, there_);
      x = before;
      if (gone) by.col(column++) = (there_ - here_) / by_much;
      return gone;
    };
    const auto move_all = [&](auto&& numbers) {
      for (double& x : numbers) {
        if (!move(x)) return false;
      }
      return true;
    };
    if (!move_all(at) || !move_all(inputs_.from.u) || (middles && !move_all(inputs_.middle.u)) ||
        !move_all(inputs_.to.u)) {
      return false;
    }
    return !inputs_.end_is_other || exchange_load(by);
  }

 private:
  bool go(const Eigen::VectorXd& from, Eigen::VectorXd& to) {
    q_.assign(from.begin(), from.begin() + n_);
    v_.assign(from.begin() + n_, from.end());
    if (!roller_.run(k_, inputs_, parts_, q_, v_, [](const auto&, const auto&) {})) return false;
    to.resize(2 * n_);
    std::copy(v_.begin(), v_.end(), std::copy(q_.begin(), q_.end(), to.begin()));
    return true;
  }

  /// The step ends with torques u' that give the next one's accelerations with another load:  ∂Φ/∂u = ∂Φ/∂u' ∂u'/∂u.
  bool exchange_load(Eigen::MatrixXd& by) {
    const PlanSample end = problem_.sample(k_ + 1);
    Eigen::MatrixXd slope(motors_, motors_);
    for (int m = 0; m < motors_; ++m) {
      PlanSample moved = end;
      moved.u[m] += kDifference * std::max(1.0, std::abs(end.u[m]));
      const double by_much = moved.u[m] - end.u[m];
      if (!roller_.set_acceleration(k_ + 1, moved)) return false;
      slope.col(m) = (roller_.inputs(k_, std::move(moved)).to.u - inputs_.to.u) / by_much;
    }
    by.rightCols(motors_) *= slope;
    return true;
  }

  const PlanProblem& problem_;
  int n_, motors_, k_ = 0, parts_ = 1;
  StepRoller roller_;
  StepInputs inputs_;
  std::vector<double> q_, v_;
  Eigen::VectorXd here_, there_;
};

enum class Found { all, not_all, interrupted };

Found find_slopes(const PlanProblem& problem, const Progress& progress, std::vector<PlanShot>& shots) {
  Slopes slopes(problem);
  const int count = static_cast<int>(shots.size());
  for (int k = 0; k < count; ++k) {
    if (progress && !progress(static_cast<double>(k) / count)) return Found::interrupted;
    if (!slopes.find(k, shots[k].by)) return Found::not_all;
  }
  return Found::all;
}

/// The shots start where the motion is, and end where its steps do.
void aim(const PlanProblem& problem, const RolledSteps& steps, std::vector<PlanShot>& shots) {
  const bool middles = problem.setting->has_middles();
  for (int k = 0; k < static_cast<int>(shots.size()); ++k) {
    const PlanSample from = problem.sample(k), to = problem.sample(k + 1);
    const Eigen::VectorXd middle = middles ? problem.sample(k, true).u : Eigen::VectorXd();
    Eigen::VectorXd at(shots[k].by.cols()), end(shots[k].by.rows());
    at << from.q, from.v, from.u, middle, to.u;
    end << steps.q[k], steps.v[k];
    shots[k].constant = end - shots[k].by * at;
  }
}

/// rad, m, and per s: between the end of a step and the start of the next, at most.
double largest_gap(const PlanProblem& problem, const RolledSteps& steps) {
  double worst = 0;
  for (int k = 0; k < static_cast<int>(steps.q.size()); ++k) {
    const PlanSample next = problem.sample(k + 1);
    worst = std::max(
        {worst, (steps.q[k] - next.q).lpNorm<Eigen::Infinity>(), (steps.v[k] - next.v).lpNorm<Eigen::Infinity>()});
  }
  return worst;
}

bool set_accelerations(PlanProblem& problem) {
  StepRoller roller(problem, 1, PlanFriction::planned);
  for (int k = 0; k < problem.setting->knots(); ++k) {
    PlanSample sample = problem.sample(k);
    if (!roller.set_acceleration(k, sample)) return false;
    problem.set(k, false, sample);
  }
  return true;
}

/// Of the costs of a graph at other values of its variables.
double cost_of(const Graph& graph, const Values& values) {
  double cost = 0;
  std::vector<double> residual;
  std::vector<const double*> slots;
  for (int f = 0; f < graph.size(); ++f) {
    const BoundFactor& bound = graph[f];
    if (bound.role != Role::cost) continue;
    slots.clear();
    for (const Key& key : bound.keys) slots.push_back(values.data(values.find(key)));
    residual.resize(bound.factor->rows());
    bound.factor->evaluate(slots, residual.data(), nullptr);
    bound.noise.whiten(residual.data(), bound.factor->rows());
    double square = 0;
    for (const double r : residual) square += r * r;
    cost += 0.5 * bound.loss.rho(square);
  }
  return cost;
}

}  // namespace

Result<std::optional<PlanProblem>> follow(const PlanProblem& plan, const PlanSetting& asked, const PlanOptions& options,
                                          PlanResult& result) {
  const bool wanted = options.refine > 0 && options.soft == 0 && result.summary.rolled_out;
  std::optional<PlanProblem> none;
  if (!wanted || !asked.can_follow() || miss_beyond_plan(plan, options) <= options.refine) return none;
  SqpOptions solver;
  solver.violation_tolerance = kTolerance;
  solver.optimality_tolerance = std::max(options.optimality, 1e-6);
  solver.curvature = Curvature::none;
  solver.barrier = kBarrier;
  solver.warm_iterations = 0;
  solver.max_iterations = kMostIterations;
  solver.threads = options.threads;
  solver.progress = options.progress;

  PlanProblem now = plan;
  std::shared_ptr<const PlanSetting> setting = plan.setting;
  RolledSteps steps = roll_steps(now, options.roll_out);
  std::vector<PlanShot> shots(setting->task.steps);
  double before = 0, least = std::numeric_limits<double>::infinity();
  int least_at = 0;
  result.summary.refine_failed = true;  // until it is found
  for (int shot = 1; shot <= kMostShots && std::isfinite(steps.miss); ++shot) {
    if (!(steps.miss < kSlow * before)) {
      const Found found = find_slopes(now, options.progress, shots);
      if (found == Found::interrupted) return Failure::interrupted();
      if (found == Found::not_all) return none;
    }
    aim(now, steps, shots);
    before = steps.miss;
    PlanProblem next = PlanProblem::follow(setting, plan, now.values, shots);
    const Result<SqpReport> report = minimize(next.graph, next.values, solver);
    if (!report) return report.failure();
    if (report->status == SqpStatus::interrupted) return Failure::interrupted();
    if (!report->converged() || !set_accelerations(next)) return none;
    now = std::move(next);
    steps = roll_steps(now, options.roll_out);
    const double violation = std::max(report->violation, largest_gap(now, steps));
    if (violation < 0.5 * least) least = violation, least_at = shot;
    if (shot - least_at >= kIdleShots) return none;
    if (violation > kWide * options.tolerance) continue;
    PlanResult found = result;
    tell_limits(now, asked, steps.motion, found.summary);
    tell_roll_out(now, options, found);
    if (auto tighter = drawn_in(*setting, asked, found.summary)) {
      setting = std::move(tighter);
      least = std::numeric_limits<double>::infinity(), least_at = shot;
      continue;
    }
    if (violation > options.tolerance || !(miss_beyond_plan(now, options) <= kEnough * options.refine)) continue;
    found.summary.corrections = shot;
    found.summary.refine_failed = false;
    found.summary.cost_planned = result.summary.solver.cost;
    found.summary.solver.violation = violation;
    found.summary.solver.cost = cost_of(plan.graph, now.values);
    result = std::move(found);
    return std::optional<PlanProblem>(std::move(now));
  }
  return none;
}

}  // namespace kinegraph::task
