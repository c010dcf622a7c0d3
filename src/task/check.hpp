#pragma once

#include <string>
#include <vector>

#include "kinegraph/model/model.hpp"

namespace kinegraph::task {

struct CheckResult {
  int points = 0, fixed_points = 0, bodies = 0, coordinates = 0, constraints = 0, rank = 0, degrees_of_freedom = 0;
  bool assembled = false;
  double constraint_max = 0;             ///< after assembly
  std::vector<std::string> independent;  ///< the coordinates that full pivoting leaves free
  std::vector<std::string> redundant;    ///< constraint names
  bool singular_here = false;            ///< rank drops at the drawn position only
  double mass = 0;
  std::vector<Diagnostic> warnings;
};

/// Fails with no_answer if the mechanism cannot be assembled: which constraint, and by how much.
Result<CheckResult> check(const Model& model);

}  // namespace kinegraph::task
