#pragma once

#include <string>

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/report/skeleton.hpp"

namespace kinegraph::report {

/// The back-substitution of an order as block equations, in the order in which they are computed; before them what the
/// elimination has to compute. A variable is solved for in its own equation (V̇ in (5), F in (6), τ or θ̈ in (7) of 001)
/// and put into all others; where its own equation does not hold it yet, the text only says what it depends on.
/// RNEA's order gives the recursion of Newton and Euler, CRBA's the composite inertias and M, ABA's the articulated
/// ones.
Result<std::string> equations(const build::ScrewProblem& problem, const Skeleton& skeleton,
                              const build::ScrewOrder& order);

}  // namespace kinegraph::report
