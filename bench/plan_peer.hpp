#pragma once

#include <string>

#include "kinegraph/build/plan.hpp"

namespace kinegraph::bench {

/// What a solver made of a plan.
struct PlanRun {
  double seconds = 0;  ///< that the processor computed
  int iterations = 0;
  double cost = 0, violation = 0;
  bool converged = false;
  std::string message;
};

/// The same problem by IPOPT. Robots that stand on the ground only: all variables are vectors.
PlanRun ipopt(const build::PlanProblem& problem);

}  // namespace kinegraph::bench
