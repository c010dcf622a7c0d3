#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kinegraph/task/plan.hpp"

namespace kinegraph::task {

/// Starts that were tried after the first one led nowhere.
struct OtherStarts {
  std::vector<std::string> tried;  ///< "fewer steps first"
  std::optional<SqpReport> found;  ///< of the search that found a plan; the values are the plan's
};

/// A search that ends where the violation is least nearby says nothing of other places. This searches again from other
/// motions: with fewer steps first, along a path of positions that is clear of the obstacles, from rest, by way of the
/// middle of the joints' ranges. All of it on few steps, so that it takes little time; what is found there starts
/// `solver` on the problem itself, whose values are changed.
Result<OtherStarts> try_other_starts(const Model& model, const PlanOptions& options, const SqpOptions& search,
                                     build::PlanProblem& problem, Sqp& solver);

}  // namespace kinegraph::task
