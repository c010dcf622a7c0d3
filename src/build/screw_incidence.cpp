#include "kinegraph/build/screw_incidence.hpp"

namespace kinegraph::build {

linear::Incidence incidence(const ScrewProblem& problem) {
  linear::Incidence result;
  for (const ScrewProblem::Variable& v : problem.variables) result.size.push_back(v.size);
  for (const ScrewProblem::Factor& f : problem.factors) {
    linear::Incidence::Factor factor{f.rows, {}};
    for (const int v : f.variables) {
      if (!problem.variables[v].known) factor.variables.push_back(v);
    }
    result.factors.push_back(std::move(factor));
  }
  return result;
}

}  // namespace kinegraph::build
