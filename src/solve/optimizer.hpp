#pragma once

#include "kinegraph/base/progress.hpp"
#include "kinegraph/graph/graph.hpp"
#include "kinegraph/solve/kkt.hpp"
#include "kinegraph/solve/report.hpp"

namespace kinegraph {

enum class Method {
  gauss_newton,         ///< full steps, halved until the merit falls. Needs a determined problem
  levenberg_marquardt,  ///< damped steps: from bad starts, and where some unknowns are free
  dogleg,               ///< steps within a trust region, between steepest descent and Gauss-Newton
};

struct OptimizerOptions {
  Method method = Method::levenberg_marquardt;
  int max_iterations = 100;
  double step_tolerance = 1e-10;      ///< largest change of a variable, relative to the largest size it has had
  double gradient_tolerance = 1e-14;  ///< of the Lagrangian, relative to 1 + column norm × residual norm
  double cost_tolerance = 1e-16;      ///< predicted change of the cost, relative (rounding is the least)
  double hard_tolerance = 1e-12;      ///< a hard row holds when it is below this share of its terms
  double initial_damping = 1e-4;      ///< Levenberg-Marquardt, relative to the diagonal
  OrderingOptions ordering;
  Progress progress;

  /// All faults, each naming the field and the rule: `step_tolerance: must be > 0, is -0.001`. Empty if there is none.
  std::vector<Diagnostic> check() const;
};

/// Moves the unknown values to a minimum of the costs under the hard rows. Fails only where there is nothing to
/// solve: options, keys or sizes that do not fit (bad_input). Everything numerical is in the report; the values are
/// then those of the best point found, and finite if they were so at the start.
///
/// The algorithm (search.hpp): Newton steps on the system of both, judged by the exact penalty f + ν ‖c‖.
Result<Report> optimize(const Graph& graph, Values& values, const OptimizerOptions& options = {});

}  // namespace kinegraph
