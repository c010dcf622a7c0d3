#pragma once

#include <Eigen/Core>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/graph/graph.hpp"

namespace kinegraph {

/// Which second derivatives enter the Newton matrix beside the Gauss-Newton matrix of the costs.
enum class Curvature {
  none,         ///< Gauss-Newton: linear convergence where constraints are curved and multipliers large
  constraints,  ///< Σ y ∇²c of hard rows and inequalities (Factor::add_curvature, or differences of the Jacobian)
};

/// One iteration, for a progress line.
struct SqpIteration {
  enum class Phase { warm_start, search, restoration };
  Phase phase = Phase::search;
  int iteration = 0;
  double cost = 0;        ///< ½ Σ ρ(‖W r‖²); 0 in a restoration, which does not look at it
  double violation = 0;   ///< largest |c| or −g
  double optimality = 0;  ///< largest entry of the Lagrangian's gradient beyond its rounding, scaled
  double barrier = 0;     ///< μ
  double step = 0;        ///< length taken along the step, 0 to 1
  double damping = 0;     ///< added to the diagonal of H
};

struct SqpOptions {
  int max_iterations = 300;
  double violation_tolerance = 1e-9;   ///< largest |c|, and −g
  double optimality_tolerance = 1e-8;  ///< of the Lagrangian's gradient and of complementarity, scaled
  double cost_tolerance = 1e-12;       ///< a feasible point whose cost cannot fall by more (relatively) is an answer
  double barrier = 0.1;                ///< μ at the start (without a warm start)
  Curvature curvature = Curvature::constraints;
  int warm_iterations = 60;      ///< at most, of the penalty warm start, ½ ‖c‖²/σ² beside the costs; 0: none
  double warm_sigma = 1e-2;      ///< σ
  bool hinges = false;           ///< inequalities as costs ½ ‖W min(0, g)‖² instead: soft, as in 003
  bool soft_equalities = false;  ///< hard rows as costs ½ ‖W c‖² instead (W: the factor's noise): soft, as in 003
  int threads = 1;               ///< the result does not depend on it

  /// How dear the violation of a factor's rows is when not all can hold: the search for Σ c² = 0 having come to an end,
  /// the point of least Σ (w c)² is what is told. Give laws of nature a large weight, so that goals and limits yield
  /// and are named. Empty: 1 for all.
  std::function<double(const BoundFactor&)> violation_weight;

  /// Iterations after which a search is given up that is far from holding and comes no nearer: what it leaves is then
  /// the least violation near by. 0: never.
  int patience = 0;

  std::function<void(const SqpIteration&)> on_iteration;
  Progress progress;  ///< polled every iteration with iteration / max_iterations; false stops

  std::vector<Diagnostic> check() const;  ///< faults, each naming the field and the rule
};

enum class SqpStatus {
  converged,
  max_iterations,
  infeasible,   ///< the constraints cannot be brought nearer to holding from here; see violations
  stuck,        ///< no step is accepted, and yet the point is not optimal
  not_finite,   ///< a residual or derivative at the start is not a number; named in the message
  interrupted,  ///< Progress said stop
};
const char* name(SqpStatus);

/// A row that does not hold.
struct Violation {
  int factor = 0, row = 0;
  std::string name;    ///< row_name of the graph
  int step = kNoStep;  ///< the earliest step that its factor touches
  double amount = 0;   ///< |c| or −g
};

struct SqpReport {
  SqpStatus status = SqpStatus::max_iterations;
  std::string message;  ///< one sentence, for people
  int iterations = 0, warm_iterations = 0, restorations = 0;
  int factorizations = 0;
  int passed_on = 0;  ///< pivots of the last elimination that came later than planned: wasted work
  double cost = 0, violation = 0, optimality = 0;
  std::vector<Violation> violations;  ///< above the tolerance, worst first; at most 1000

  bool converged() const { return status == SqpStatus::converged; }
  Failure failure() const;  ///< no_answer (or interrupted): the message and the worst rows
};

/// What a solution knows beside the values: starts the next one near by (re-planning). Rows as in Structure::row.
struct SqpDuals {
  Eigen::VectorXd equality, inequality;
};

/// Least cost under hard rows and inequalities over a time axis:
///
///     min ½ Σ ρ(‖W r(x)‖²)   with   c(x) = 0   (Role::equality),   g(x) ≥ 0   (Role::inequality)
///
/// A factor touches variables of one step (Key::step; `half` belongs to the step where its interval starts), of two
/// neighbouring ones, and variables of no time (step == kNoStep: few, as every step sees them).
///
/// Use:  auto solver = Sqp::make(graph, values);  solver->solve(values, options);  change known values (a new start),
/// then  solver->solve(values, options, true)  goes on from the multipliers of the last solution. Graph must outlive
/// it; its factors, keys and known variables must not change, values may.
class Sqp {
 public:
  static Result<Sqp> make(const Graph& graph, const Values& values);
  Sqp(Sqp&&) noexcept;
  Sqp& operator=(Sqp&&) noexcept;
  ~Sqp();

  /// Moves the unknown values to a local minimum. Fails only on options that make no sense; everything numerical is in
  /// the report, and the values are then those of the best point (infeasible: of least violation).
  Result<SqpReport> solve(Values& values, const SqpOptions& options = {}, bool warm = false);

  const SqpDuals& duals() const;
  void set_duals(SqpDuals duals);  ///< for solve(…, warm = true)
  const Structure& structure() const;

 private:
  struct Implementation;
  explicit Sqp(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// Both in one call.
Result<SqpReport> minimize(const Graph& graph, Values& values, const SqpOptions& options = {});

}  // namespace kinegraph
