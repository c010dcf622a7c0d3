#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::task {

/// The tree of a model, a planar one too. Not assembled: the graph does not depend on where its bodies are.
Result<std::shared_ptr<const screw::Tree>> tree_of(const Model& model);

/// What a problem takes as known: "inverse", "forward", or "hybrid" with names "joint.a", "joint.tau" of what is known
/// of each joint (those not named: their torque). All faults at once, with the nearest names.
Result<std::vector<build::Given>> given_of(const screw::Tree& tree, const std::string& problem,
                                           const std::vector<std::string>& known);

/// What an order costs.
struct OrderingCost {
  std::string name;
  std::string same_as;  ///< an order above that eliminates alike
  int edges = 0, fill = 0, width = 0, width_in_numbers = 0;
  double flops = 0;                     ///< of dense fronts
  std::optional<long> plan_flops = {};  ///< of the compiled elimination, zero and unit blocks known
  std::optional<int> plan_fill = {};    ///< its blocks
};

/// Over all orderings; with `custom` that one too.
Result<std::vector<OrderingCost>> compare_orderings(const build::ScrewProblem& problem,
                                                    const std::vector<std::string>& custom);

}  // namespace kinegraph::task
