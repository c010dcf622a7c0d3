#pragma once

#include <map>
#include <string>
#include <vector>

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/report/skeleton.hpp"
#include "kinegraph/report/symbols.hpp"

namespace kinegraph::report {

/// An equation while others are put into it:   left side = Σ coefficient · variable + constants
struct EquationRow {
  std::string name;
  int numbers = 0;
  int left = -1;  ///< V̇ of (5), F of (6), τ of (7); −1: zero
  std::map<int, Sum> terms;
  Sum constants;
  bool used = false;
  bool mixed = false;  ///< what remains of several equations: only its variables are known
};

/// The equations of a problem in symbols, one per factor. `spelling` gets the longer forms of X, b and c.
std::vector<EquationRow> equation_rows(const build::ScrewProblem& problem, const Skeleton& skeleton,
                                       Spelling& spelling);

/// "V̇3", "F3", "τ3"; accelerations as "a3".
std::string variable_name(const build::ScrewProblem::Variable& variable);

}  // namespace kinegraph::report
