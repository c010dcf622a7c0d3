#pragma once

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/codegen/screw_rows.hpp"

namespace kinegraph::codegen {

/// Eliminates the unknowns of a problem in an order of its variables, one scalar after the other. Variables of one body
/// that follow each other are taken together, in the order that costs least: what a torque alone determines of F, then
/// V̇, θ̈, the rest of F. What stands between a body and its parent follows when F and V̇ are gone. With
/// `keep_accelerations` all θ̈ stay, in equations M θ̈ + h = τ.
void eliminate_in_order(const build::ScrewProblem& problem, const ScrewRows& rows, const build::ScrewOrder& order,
                        bool keep_accelerations, SymbolicElimination& elimination);

}  // namespace kinegraph::codegen
