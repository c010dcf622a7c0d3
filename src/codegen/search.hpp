#pragma once

#include <optional>

#include "kinegraph/codegen/generate.hpp"

namespace kinegraph::codegen {

/// An order with its program, simplified and without derivatives.
struct Candidate {
  std::string name;
  build::ScrewOrder order;
  Program program;
  int flops = 0;
};

/// A program in an order, simplified, without derivatives. Fails where it has no pivots at positions with closed loops.
/// Interrupted where request.options.goes_on says so.
Result<Program> trace_checked(const build::ScrewProblem& problem, const Request& request,
                              const build::ScrewOrder& order);

/// The order with the fewest operations, out of those with a name and of a family that holds ABA's and CRBA's: bodies
/// from the leaves to the ground, each (Fᵢ, V̇ᵢ), and each θ̈ right after its own body (ABA), after one of the bodies
/// between it and the ground, or last of all (CRBA). All of the family for small robots; else from the best with a name
/// downhill, one θ̈ after the other. An order without code (a pivot that vanishes) is passed over; fails where all are
/// so.
Result<Candidate> best_order(const build::ScrewProblem& problem, const Request& request,
                             std::vector<Generated::Tried>& tried, int& searched);

}  // namespace kinegraph::codegen
