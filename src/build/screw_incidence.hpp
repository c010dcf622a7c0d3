#pragma once

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/linear/elimination_game.hpp"

namespace kinegraph::build {

/// The incidence of a problem, variables and factors numbered as there. Known variables stand in no factor.
linear::Incidence incidence(const ScrewProblem& problem);

}  // namespace kinegraph::build
