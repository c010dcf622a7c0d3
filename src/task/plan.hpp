#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/build/plan.hpp"
#include "kinegraph/model/trajectory.hpp"
#include "kinegraph/solve/sqp.hpp"

namespace kinegraph::task {

/// rad or m: a roll-out that misses a goal by so much more than the plan does is warned of.
constexpr double kMissWarned = 0.05;

struct PlanOptions {
  double soft = 0;  ///< σ of dynamics, collocation, contacts and goals as costs, inequalities as hinges (003); 0: hard
  int max_iterations = 500;
  double tolerance = 1e-9;  ///< of what must hold: the largest violation
  /// Of the conditions for the least cost, scaled by the multipliers (never closer than `tolerance`). An inequality
  /// adds at most a tenth of it to the cost. Below, iterations are spent on inequalities that hardly matter, without
  /// effect.
  double optimality = 1e-6;
  int roll_out = 10;  ///< steps of the roll-out per step of the plan; 0: none
  /// rad or m: where the roll-out misses a goal by more than this and than the plan does, the motion next to the plan
  /// is found that it follows (plan_follow.hpp). Robots on a fixed base without contacts. 0: never.
  double refine = 0.01;
  const Trajectory* guess = nullptr;  ///< an earlier plan to start from
  int threads = 1;
  unsigned long seed = 0;  ///< of inverse kinematics
  std::function<void(const SqpIteration&)> on_iteration;
  Progress progress;
};

/// How far a goal is missed.
struct GoalMiss {
  std::string goal;  ///< its name
  std::string what;  ///< "pole.q", "hand", "rest"
  std::string unit;  ///< "rad", "m", "rad/s or m/s"
  double time = 0;
  double plan = 0, roll_out = 0;  ///< in the plan, and in the motion that its torques make
};

/// A limit that the motion between the knots leaves, at a tenth of the steps.
struct LimitCheck {
  std::string name;   ///< "elbow.q"
  double excess = 0;  ///< beyond the limit; negative: short of it
  double time = 0;
};

/// A phase whose duration was found.
struct PhaseFound {
  double from = 0, to = 0;     ///< s
  double least = 0, most = 0;  ///< between which its duration had to be
};

struct PlanSummary {
  std::vector<std::string> warnings;
  SqpReport solver;
  double solve_s = 0, wall_s = 0;
  int variables = 0, knots = 0;
  double duration = 0;             ///< s, of the whole motion
  std::vector<PhaseFound> phases;  ///< of unknown duration
  int rounds = 1;                  ///< solved again with tighter limits, until they hold between the knots too
  std::vector<std::string>
      starts;                  ///< those tried after the first led nowhere ("fewer steps first"); the last found it
  int corrections = 0;         ///< shots until the roll-out followed (PlanOptions::refine)
  double cost_planned = 0;     ///< before these; solver.cost is that of the motion found
  bool refine_failed = false;  ///< no motion next to the plan was found that it follows: this is the plan as it was
  std::vector<GoalMiss> misses;
  double miss_max = 0;  ///< of the roll-out: rad or m, at rest rates are not counted
  /// rad or m, of single steps that start where the plan does: what the open loop lets grow. Found where goals are
  /// missed by more than kMissWarned.
  double step_miss = 0;
  bool rolled_out = false;
  double roll_out_until = 0;                       ///< s; before the horizon: it fell there
  std::vector<LimitCheck> limits;                  ///< those exceeded in the motion between the knots, worst first
  double limit_excess = 0;                         ///< the largest; 0 if none is
  std::vector<std::string> torques;                ///< "elbow.tau"
  std::vector<double> torque_peak, torque_square;  ///< largest; ∫ τ² dt, by the trapezoidal rule
  double clearance = 0;                            ///< least distance to obstacles, at a tenth of the steps
  bool has_clearance = false;
  bool has_friction = false;  ///< dry, in joints: rounded off over friction_speed
  std::string nearest;        ///< "hand - ball"
};

struct PlanResult {
  Trajectory trajectory;  ///< q v a tau of every joint, forces of contacts: at knots and middles
  Trajectory motion;      ///< the roll-out, at a tenth of the steps
  PlanSummary summary;
};

/// A motion with its torques that does what the task asks. No answer: names what cannot be met, or what is not met
/// where the search ended from this start and a few others, when and by how much.
Result<PlanResult> plan(const Model& model, const PlanTask& task, const PlanOptions& options = {});

/// The same again and again: keeps the graph and the multipliers, so that a plan from another start follows quickly.
class Planner {
 public:
  static Result<Planner> make(const Model& model, const PlanTask& task, const PlanOptions& options);
  Result<PlanResult> plan();
  /// From another state; starts from the last plan: from the solution of problem(), not from its followed motion.
  Result<PlanResult> replan(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  /// What was solved, with its solution. The motion that a roll-out follows next to it (PlanOptions::refine) is in the
  /// PlanResult alone; re-planning goes on from the solution, which its multipliers belong to.
  const build::PlanProblem& problem() const { return *problem_; }

 private:
  Planner() = default;
  Result<PlanResult> solve(bool warm);
  Result<SqpReport> search(int round, bool warm);
  bool rebuild(std::shared_ptr<const build::PlanSetting> setting);

  PlanOptions options_;
  std::shared_ptr<const Model> model_;               // for other starts
  std::vector<std::string> tried_;                   // starts of the last search, beside the first
  std::shared_ptr<const build::PlanSetting> asked_;  // as the task says; that of the problem may be drawn in
  std::unique_ptr<build::PlanProblem> problem_;      // stays where it is: the solver looks at its graph
  std::unique_ptr<Sqp> solver_;
};

}  // namespace kinegraph::task
