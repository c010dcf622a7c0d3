#pragma once

#include <string>
#include <vector>

#include "kinegraph/graph/graph.hpp"

namespace kinegraph::bench {

/// What a solver made of a graph of costs.
struct SmoothingRun {
  double seconds = 0;  ///< that the processor computed, structure and all
  int iterations = 0;
  double cost = 0;
  double near_seconds = 0;  ///< until the cost was `near`; 0: never
  bool converged = false;
};

/// The same graph by Ceres: one residual block per factor, one parameter block per variable, our residuals and
/// Jacobians; Levenberg-Marquardt on normal equations by SuiteSparse, one thread. Costs and vectors only.
SmoothingRun ceres(const Graph& graph, Values& values, double near);

}  // namespace kinegraph::bench
